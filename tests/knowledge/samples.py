"""A small SOP of our own, and hands to bend it."""

SOP = """\
---
sop: 1
id: fan-check
title: {en: Check a fan, zh-hans: 检查风扇}
faults: [host.fan.failed]
owner: "team:gpu-ops"
vars: {fan: {type: slot, from: finding}}
---
## Meaning
A fan is slow.
## Steps
### step look: Look at the fans
~~~sop-step
type: check
probe: kernel_log@1
expect: {outcome: clean}
next: {met: enough, not_met: swap, error: escalate}
~~~
Read `{{ fan.slot }}`.
### step enough: Is one enough?
~~~sop-step
type: decision
ask: Do the other fans suffice?
answers: {suffice: verify, too_few: swap}
~~~
### step swap: Swap the fan
~~~sop-step
type: action
action: hardware.replace@1
rollback: restore
next: {ok: listen, error: escalate}
~~~
Swap it.
### step restore: Put the old one back
~~~sop-step
type: rollback
next: {ok: escalate}
~~~
Put it back.
### step listen: Does it turn?
~~~sop-step
type: verify
retry: {max: 2}
next: {met: close, not_met: swap}
~~~
Listen.
## Verification
It turns.
## Escalation
Call the vendor.
"""

SOP_ZH = (
    SOP.replace("A fan is slow.", "有一个风扇转速过低。")
    .replace("Look at the fans", "查看风扇")
    .replace("Do the other fans suffice?", "其余风扇够用吗？")
)


def changed(old: str, new: str, text: str = SOP) -> str:
    """The sample with one thing changed."""
    assert text.count(old) >= 1, f"{old!r} is not in the sample"
    return text.replace(old, new, 1)
