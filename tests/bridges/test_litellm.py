"""The router of litellm, whose deployments a study picks; all answers are mock ones."""

from __future__ import annotations

import asyncio
import math
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import belman
from belman.errors import SettingError, UnknownTicketError
from belman.studies import Storage
from tests.waiting import HANG, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "llm.md"
ASK = [{"role": "user", "content": "What is a bandit?"}]
NAMES = ["large", "medium", "small"]
RUNNER = asyncio.Runner()  # litellm's callbacks stay with the first event loop of a process


async def until(happened):
    """Let the loop run until it has happened."""
    async with asyncio.timeout(HANG):
        while not happened():
            await asyncio.sleep(0.001)


@pytest.fixture(scope="module", autouse=True)
def _runner_is_closed():
    yield
    RUNNER.close()


@pytest.fixture(scope="module", autouse=True)
def litellm():
    return pytest.importorskip("litellm", reason="no litellm: pip install 'belman[litellm]'")


@pytest.fixture
def storage(tmp_path):
    position = Storage(f"sqlite:///{tmp_path}/studies.db")
    yield position
    position.close()


def deployment(name, answer="yes", group="chat", **more):
    parameters = {"model": "openai/gpt-4o-mini", "api_key": "none", "mock_response": answer, **more}
    return {"model_name": group, "litellm_params": parameters, "model_info": {"id": name}}


@pytest.fixture
def routed(litellm, storage):
    """A router whose group `chat` a study routes, the study, and what routes."""
    from belman.bridges.litellm_router import BelmanRouting

    made = []

    def make(models=None, study=None, settings=None, router=None):
        models = [deployment(name) for name in NAMES] if models is None else models
        rule = {"control": "large", "goal": "earn", "floor": 0.05, "seed": 7, **(study or {})}
        opened = belman.open_study("models", NAMES, storage=storage, **rule)
        router = litellm.Router(models, num_retries=0, **(router or {}))
        routing = BelmanRouting(router, {"chat": opened}, **(settings or {}))
        router.set_custom_routing_strategy(routing)
        litellm.callbacks.append(routing)
        made.append(routing)
        return router, opened, routing

    yield make
    for routing in made:
        routing.close()
        assert routing not in litellm.callbacks


def played(router, study, calls, **settings):
    """Make calls one after the other, and wait until the study was told of each; who answered."""

    async def main():
        went = []
        before = study.status()["told"]
        for i in range(calls):
            try:
                answer = await router.acompletion("chat", ASK, **settings)
                went.append(answer._hidden_params["model_id"])
            except Exception:
                went.append(None)
            await until(lambda told=before + i: study.status()["told"] == told + 1)
        return went

    return RUNNER.run(main())


def test_a_deployment_that_fails_loses_its_traffic(routed):
    models = [deployment("large"), deployment("medium", Exception("down")), deployment("small")]
    router, study, _ = routed(models, router={"disable_cooldowns": True})
    went = played(router, study, 120)
    assert went.count(None) > 0
    assert went[-60:].count(None) < 15
    told = study.metrics()
    failed = dict(zip(zip(told["arm"], told["metric"], strict=True), told["mean"], strict=True))
    assert [failed[name, "failed"] for name in NAMES] == [0.0, 1.0, 0.0]
    assert study.outstanding == 0
    study.check()


def test_deployments_come_as_often_as_their_chances_say(routed):
    """All traffic is uniform: each of three arms within 4 deviations of a third, but for 1 in 5,000
    tests. Calls run at once, thirty at a time.
    """
    router, study, _ = routed(study={"floor": None, "uniform_share": 1.0, "goal": None})

    async def main():
        went = []
        for _ in range(10):
            calls = [router.acompletion("chat", ASK) for _ in range(30)]
            went += [one._hidden_params["model_id"] for one in await asyncio.gather(*calls)]
        await until(lambda: not study.outstanding)
        return went

    went = RUNNER.run(main())
    assert study.status()["told"] == 300
    for name in NAMES:
        assert abs(went.count(name) - 100) < 4.0 * math.sqrt(300 * 2 / 9)


def test_quality_dollars_and_seconds_make_the_reward(routed):
    answers = {"large": "a long and good answer", "medium": "good", "small": "bad"}
    models = [deployment(name, answers[name]) for name in NAMES]
    models[0]["litellm_params"] |= {"input_cost_per_token": 0.01, "output_cost_per_token": 0.01}
    settings = {"quality": lambda answer: float("good" in answer.choices[0].message.content)}
    formula = {"reward": "4*quality - 100*dollars - 0.2*seconds"}
    family = belman.families.GaussianUnknown(prior=(0.0, 0.1, 1.0, 1.0))
    router, study, _ = routed(models, {**formula, "family": family}, settings)
    went = played(router, study, 60)
    assert went[-20:].count("medium") > 10
    told = study.metrics()
    means = dict(zip(zip(told["arm"], told["metric"], strict=True), told["mean"], strict=True))
    assert means["large", "quality"] == means["medium", "quality"] == 1.0
    assert means["small", "quality"] == 0.0
    assert means["large", "dollars"] > 100 * means["medium", "dollars"] > 0.0


def test_a_session_stays_and_is_one_decision(routed):
    router, study, _ = routed()

    async def main():
        went = set()
        for _ in range(8):
            answer = await router.acompletion("chat", ASK, metadata={"session_id": "me"})
            went.add(answer._hidden_params["model_id"])
        await until(lambda: not study.outstanding)
        return went

    assert len(RUNNER.run(main())) == 1
    assert study.status()["told"] == 1


def test_who_cools_down_is_not_asked_for(routed):
    models = [deployment("large", Exception("down")), deployment("small")]
    router, study, _ = routed(models, router={"allowed_fails": 0, "cooldown_time": 3_600})
    went = played(router, study, 40)
    assert went.count(None) <= 2
    assert set(went[5:]) == {"small"}
    assert study.outstanding == 0


def test_retries_are_decisions_of_their_own(routed):
    """A call that fails is told 0, and the next attempt asks again."""
    models = [deployment(name, Exception("down")) for name in NAMES]
    router, study, _ = routed(models, router={"disable_cooldowns": True})
    router.num_retries = 2

    async def main():
        with pytest.raises(Exception, match="down"):
            await router.acompletion("chat", ASK)
        await until(lambda: study.status()["told"] == 3)

    RUNNER.run(main())
    assert (study.status()["told"], study.outstanding) == (3, 0)


def test_calls_that_are_cancelled_are_given_back(routed):
    router, study, _ = routed([deployment(name, mock_delay=3) for name in NAMES])

    async def main():
        calls = [asyncio.create_task(router.acompletion("chat", ASK)) for _ in range(5)]
        await until(lambda: study.outstanding == 5)
        for one in calls:
            one.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await until(lambda: not study.outstanding)

    RUNNER.run(main())
    assert study.status()["told"] == 0


def test_a_request_that_is_wrong_says_nothing_of_who_answers(routed, litellm):
    wrong = litellm.BadRequestError("no such role", "gpt-4o-mini", "openai")
    router, study, _ = routed()

    async def main():
        with pytest.raises(litellm.BadRequestError):
            await router.acompletion("chat", ASK, mock_response=wrong)
        await until(lambda: not study.outstanding)

    RUNNER.run(main())
    assert study.status()["told"] == 0


def test_a_quality_comes_late_by_the_name_of_the_call(routed):
    router, study, routing = routed(settings={"quality": lambda answer: None})

    async def main():
        answer = await router.acompletion("chat", ASK)
        await asyncio.sleep(0.05)
        assert study.outstanding == 1
        await routing.atell(answer._hidden_params["litellm_call_id"], 1.0)
        return answer

    answer = RUNNER.run(main())
    wait_until(lambda: study.status()["told"] == 1)
    with pytest.raises(UnknownTicketError, match="waits for no quality"):
        routing.tell(answer._hidden_params["litellm_call_id"], 1.0)


def test_a_judge_may_be_awaited_and_one_that_fails_gives_the_ticket_back(routed):
    asked = []

    async def judge(answer):
        asked.append(answer)
        if len(asked) > 1:
            raise ZeroDivisionError
        return 0.0

    router, study, _ = routed(settings={"quality": judge})

    async def main():
        for count in (1, 2):
            await router.acompletion("chat", ASK)
            await until(lambda count=count: len(asked) == count and not study.outstanding)

    RUNNER.run(main())
    assert study.status()["told"] == 1


def test_streams_are_told_at_their_end(routed):
    router, study, _ = routed()

    async def main():
        answer = await router.acompletion("chat", ASK, stream=True)
        assert [part async for part in answer]
        await until(lambda: not study.outstanding)

    RUNNER.run(main())
    assert study.status()["told"] == 1


def test_threads_that_do_not_await_decide_and_learn_too(routed):
    router, study, _ = routed()
    failed = []

    def work():
        try:
            for _ in range(5):
                router.completion("chat", ASK)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    wait_until(lambda: not study.outstanding)
    assert failed == []
    assert study.status()["told"] == 20


def test_segments_are_found_in_the_metadata(routed):
    rule = {"control": None, "goal": None, "floor": None, "segments": ["kind"]}
    router, study, _ = routed(study=rule)
    played(router, study, 3, metadata={"kind": "code"})
    played(router, study, 2)
    assert sorted(study.segments()["segment"]) == ["kind=code", "kind=unknown"]


def test_other_groups_are_routed_as_they_were(routed):
    models = [*map(deployment, NAMES), deployment("other", "other", group="draw")]
    router, study, _ = routed(models, router={"model_group_alias": {"talk": "chat"}})

    async def main():
        assert (await router.acompletion("draw", ASK))._hidden_params["model_id"] == "other"
        assert (await router.acompletion("talk", ASK))._hidden_params["model_id"] in NAMES
        await until(lambda: study.status()["told"] == 1)

    RUNNER.run(main())
    assert router.completion("draw", ASK)._hidden_params["model_id"] == "other"
    assert (study.status()["told"], study.outstanding) == (1, 0)


def test_what_cannot_be_routed_is_refused(routed, litellm, storage):
    from belman.bridges.litellm_router import BelmanRouting

    router, study, _ = routed()
    with pytest.raises(SettingError, match="no arm in group 'talk': the router has no such group"):
        BelmanRouting(router, {"talk": study})
    with pytest.raises(SettingError, match="open_study makes one"):
        BelmanRouting(router, {"chat": belman.Agent(NAMES)})
    other = belman.open_study("other", ["left", "right"], storage=storage)
    with pytest.raises(SettingError, match="its deployments are 'large', 'openai/gpt-4o-mini'"):
        BelmanRouting(router, {"chat": other})
    along = belman.open_study("along", NAMES, context=["words"], storage=storage)
    with pytest.raises(SettingError, match="give context="):
        BelmanRouting(router, {"chat": along})


CHEAP = {"input_cost_per_token": 0.0001, "output_cost_per_token": 0.0001}
DEAR = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.001}


def priced(**more):
    return [
        deployment("large", "yes", **DEAR, **more),
        deployment("small", "no", **CHEAP, **more),
    ]


BUDGET = {"control": None, "goal": None, "floor": None, "budget": {"dollars": 1.0}}


def test_a_budget_is_kept_and_a_call_beyond_it_is_refused_in_litellms_words(routed, litellm):
    """The dear model costs some cents a call, and the cheap one a tenth: money is spent, and not
    more than a call beyond the budget.
    """
    router, study, _ = routed(priced(), BUDGET | {"floor": 0.1})
    went = played_until_refused(router, study, litellm, 600)
    budget = study.status()["budget"]
    assert 0.9 < budget["spent"] <= 1.05
    assert {"large", "small"} <= set(went)
    assert went[-1] is None  # when not even the cheap one fits
    assert went[-2] == "small"
    assert study.outstanding == 0
    with pytest.raises(litellm.BudgetExceededError, match="has no room in its budget"):
        router.completion("chat", ASK)
    study.check()


def played_until_refused(router, study, litellm, calls, **settings):
    async def main():
        went = []
        for _ in range(calls):
            try:
                answer = await router.acompletion("chat", ASK, **settings)
            except litellm.BudgetExceededError:
                return [*went, None]
            went.append(answer._hidden_params["model_id"])
            await until(lambda: not study.outstanding)
        return went

    return RUNNER.run(main())


def test_another_group_answers_where_the_budget_is_spent(routed):
    models = [*priced(), deployment("free", "free", group="free")]
    router, study, _ = routed(models, BUDGET, router={"fallbacks": [{"chat": ["free"]}]})
    study.spend(1.0)

    async def main():
        answer = await router.acompletion("chat", ASK)
        return answer._hidden_params["model_id"]

    assert RUNNER.run(main()) == "free"
    assert study.outstanding == 0


def test_calls_of_a_session_count_against_the_budget(routed, litellm):
    router, study, _ = routed(priced(), {**BUDGET, "budget": {"dollars": 0.2}})
    went = played_until_refused(router, study, litellm, 60, metadata={"session_id": "me"})
    assert went[-1] is None

    async def ended():
        await until(lambda: study.status()["budget"]["spent"] > 0.15)

    RUNNER.run(ended())
    assert study.status()["budget"]["spent"] <= 0.25
    assert study.status()["told"] < len(went) / 2


def test_a_judge_that_fails_does_not_forget_what_was_paid(routed):
    def judge(answer):
        raise ZeroDivisionError

    router, study, _ = routed(priced(), BUDGET, {"quality": judge})

    async def main():
        await router.acompletion("chat", ASK)
        await until(lambda: study.status()["budget"]["spent"] > 0.0 and not study.outstanding)

    RUNNER.run(main())
    assert study.status()["told"] == 0


def test_a_budget_of_what_no_call_tells_is_refused(routed):
    with pytest.raises(SettingError, match="has a budget of 'euros'"):
        routed(priced(), {**BUDGET, "budget": {"euros": 1}})


#: What stands between a program and the network but for this machine.
NO_NETWORK = """
import socket
real = socket.getaddrinfo
def refused(host, *rest, **more):
    assert host in (None, "localhost", "127.0.0.1", "::1"), f"the network was asked for {host}"
    return real(host, *rest, **more)
socket.getaddrinfo = refused
"""


def test_nothing_leaves_this_machine(tmp_path):
    """A process that imports litellm, and routes a call, looks no name up."""
    code = f"""{NO_NETWORK}
import litellm, belman
from belman.bridges.litellm_router import BelmanRouting
names = {NAMES}
models = [{{"model_name": "chat", "model_info": {{"id": name}}, "litellm_params":
    {{"model": "openai/gpt-4o-mini", "api_key": "none", "mock_response": "yes"}}}}
    for name in names]
router = litellm.Router(models, num_retries=0)
study = belman.open_study("x", names, storage="sqlite:///{tmp_path}/x.db")
with BelmanRouting(router, {{"chat": study}}) as routing:
    router.set_custom_routing_strategy(routing)
    litellm.callbacks.append(routing)
    print(router.completion("chat", {ASK}).choices[0].message.content)
study.storage.close()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "asked for" not in ran.stdout + ran.stderr
    assert (ran.returncode, ran.stdout.strip()) == (0, "yes"), ran.stderr


def test_the_program_of_the_page_runs(litellm, tmp_path, monkeypatch):
    blocks = re.findall(r"^```py\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, GUIDE.name, "exec"), names)
    study = names["study"]
    assert study.status()["told"] == 100
    study.storage.close()
