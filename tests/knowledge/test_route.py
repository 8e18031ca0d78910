from knowledge.domain.route import Result, Waypoint, outcome_of, walk

LOOK = Waypoint("look", "check", {"met": "enough", "not_met": "swap", "error": "escalate"})
ENOUGH = Waypoint("enough", "decision", {"suffice": "verify", "too_few": "swap"})
SWAP = Waypoint("swap", "action", {"ok": "listen", "error": "escalate"})
LISTEN = Waypoint("listen", "verify", {"met": "close", "not_met": "swap"})
STEPS = (LOOK, ENOUGH, SWAP, LISTEN)


def test_begins_at_the_first_step_with_all_others_ahead():
    route = walk(STEPS, {})
    assert (route.current, route.path, route.end) == ("look", (), "")
    assert route.ahead == {"enough", "swap", "listen"}


def test_an_answer_leaves_the_other_branch_aside():
    route = walk(STEPS, {"look": Result(1, "done", "met"), "enough": Result(2, "done", "suffice")})
    assert (route.path, route.current, route.end) == (("look", "enough"), None, "verify")


def test_a_step_ticked_too_early_counts_when_the_path_comes_to_it():
    route = walk(STEPS, {"swap": Result(1, "done", "ok"), "look": Result(2, "failed", "not_met")})
    assert (route.path, route.current) == (("look", "swap"), "listen")


def test_a_tick_taken_back_is_as_if_it_were_not_there():
    assert walk(STEPS, {"look": Result(2, "undone", "")}).current == "look"


def test_the_way_back_asks_for_new_results():
    results = {
        "look": Result(1, "failed", "not_met"),
        "swap": Result(2, "done", "ok"),
        "listen": Result(3, "failed", "not_met"),
    }
    assert walk(STEPS, results).current == "swap"
    results["swap"] = Result(4, "done", "ok")
    assert walk(STEPS, results).current == "listen"
    results["listen"] = Result(5, "done", "met")
    assert walk(STEPS, results).end == "close"


def test_a_step_that_leads_to_itself_does_not_turn_for_ever():
    again = Waypoint("again", "verify", {"met": "close", "not_met": "again"})
    assert walk((again,), {"again": Result(1, "failed", "not_met")}).current == "again"


def test_an_outcome_without_a_branch_is_escalated():
    assert walk(STEPS, {"look": Result(1, "done", "nobody knows")}).end == "escalate"


def test_a_failed_step_takes_the_bad_branch_and_a_skipped_one_the_good():
    assert outcome_of(LOOK, "failed") == "not_met"
    assert outcome_of(SWAP, "failed") == "error"
    assert outcome_of(SWAP, "skipped") == "ok"
    assert outcome_of(ENOUGH, "done", answer="too_few") == "too_few"
    assert outcome_of(ENOUGH, "failed") == "error"
