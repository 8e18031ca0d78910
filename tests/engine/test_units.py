"""The failure of a unit means the same, however it is told."""

import pytest

from tests.engine.helpers import diagnosis_of, roots

FORMS = {
    "log": "Feb  3 01:02:03 n1 systemd[1]: {unit}: Failed with result 'exit-code'.\n",
    "log of an old systemd": "Feb  3 01:02:03 n1 systemd[1]: Unit {unit} entered failed state.\n",
    "list": "  UNIT LOAD ACTIVE SUB DESCRIPTION\n* {unit} loaded failed failed What it is\n\n1 loaded units listed.\n",
    "list as JSON": '[{{"unit":"{unit}","load":"loaded","active":"failed","sub":"failed","description":"What it is"}}]\n',
    "status": "* {unit} - What it is\n     Loaded: loaded\n     Active: failed (Result: exit-code) since Tue\n",
    "refused start": "Job for {unit} failed because the control process exited with error code.\n",
    "console": "[FAILED] Failed to start What it is.\nSee 'systemctl status {unit}' for details.\n",
}
MEANS = {
    "slurmd.service": "os.service_failed",
    "docker.service": "container.runtime_down",
    "crio.service": "container.runtime_down",
    "nvidia-fabricmanager.service": "gpu.fabric_manager",
    "nvidia-imex.service": "gpu.imex",
    "chronyd.service": "os.clock_unsynced",
    "dkms.service": "os.driver_load_failed",
    "logrotate.service": "os.timer_failed",
    "scratch.mount": "container.mount_failed",
    "user@1000.service": None,
    "motd-news.service": None,
    "run-user-1000.mount": None,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", MEANS)
def test_a_failed_unit_means_the_same_in_every_form(unit: str, form: str):
    found = roots(diagnosis_of(FORMS[form].format(unit=unit)))
    assert [(finding.fault, finding.component) for finding in found] == ([(MEANS[unit], unit)] if MEANS[unit] else [])
