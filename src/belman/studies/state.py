"""The state of a study: what is left of its log when it is folded, event by event."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from typing import Any

import numpy as np

from belman import chance
from belman.agent import Agent, state_file
from belman.agent.learnt import Learnt
from belman.engine import LATER, entry
from belman.errors import StateError
from belman.policies import Policy
from belman.studies.event_log import Draw, Event, Kind
from belman.studies.settings import Settings, given_back
from belman.studies.snapshot_checks import check_snapshot

FORMAT = 1


class State:
    """The agent, the register of all arms there ever were, and the tickets that are out.

    The same events give the same state to the last bit, whoever folds them: an ask holds the arm
    that was chosen, so that nothing is decided anew, and every decision draws from a generator of
    its own, forked from the seed by its number.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.agent: Agent = settings.agent()
        self.register: list[Hashable] = list(settings.arms)
        self.places = {arm: place for place, arm in enumerate(self.register)}
        self.retired: dict[int, Learnt] = {}
        self.outstanding: dict[int, tuple[int, float]] = {}
        self.asks = [0] * len(self.register)
        self.paused = False
        self.number = 0
        self.expired = 0
        self.told = 0
        self.reward = 0.0
        self._words = settings.words()
        self._mind = np.zeros_like(self._words)  # of one decision
        self._fork = entry(chance.fork).hold(LATER, words=self._words, out=self._mind)
        self._uniform = entry(chance.uniform).hold(LATER, mind=self._mind)
        self._below = entry(chance.below).hold(LATER, mind=self._mind)

    # Deciding

    def choose(self, words: chance.Words, number: int) -> int:
        """The place of the arm that the policy chooses, with its `number`-th fork of `words`."""
        entry(chance.fork)(LATER, words=words, run=number, role=0, out=self.agent.mind)
        return self.places[self.agent.ask()]

    def decide(self, count: int) -> list[tuple[int, int, float]]:
        """(place, draw, probability) of the next `count` asks, outstanding from now on."""
        share = self.settings.uniform_share
        uniform = self._uniform_draws(count) if share > 0.0 else [None] * count
        chosen = iter(self._policy_draws(uniform.count(None)))
        draws = []
        for arm in uniform:
            if arm is None:
                draws.append(next(chosen))
            else:
                self.agent.expect(arm)
                draws.append((self.places[arm], int(Draw.UNIFORM), 1.0 / len(self.agent.arms)))
        return draws

    def _uniform_draws(self, count: int) -> list[Hashable | None]:
        """Which of the next asks the uniform share takes, with their arms; None for the others."""
        arms = self.agent.arms
        self._fork(self.number + 1, 1)
        taken = [self._uniform() < self.settings.uniform_share for _ in range(count)]
        return [arms[self._below(len(arms))] if uniform else None for uniform in taken]

    def _policy_draws(self, count: int) -> list[tuple[int, int, float]]:
        if not count:
            return []
        agent = self.agent
        self._fork(self.number + 1, 0)
        agent.mind[:] = self._mind
        draw = int(Draw.RANDOM if agent.leaves_all_a_chance else Draw.POLICY)
        if count == 1:
            agent.ask()
        else:
            agent.ask(count)
        return [(self.places[choice.arm], draw, choice.probability) for choice in agent.last]

    # Folding

    def fold(self, event: Event, decided: bool = False) -> None:
        """Let an event happen; `decided` where the agent has counted the ask already."""
        kind = event.kind
        if kind == Kind.ASKED:
            assert event.arm is not None
            self.outstanding[event.number] = (event.arm, event.time)
            self.asks[event.arm] += 1
            if not decided:
                self.agent.expect(self.register[event.arm])
        elif kind == Kind.TOLD or kind == Kind.EXPIRED:
            assert event.ticket is not None
            assert event.arm is not None
            del self.outstanding[event.ticket]
            self.expired += kind == Kind.EXPIRED
            if event.reward is None:
                self._await(event.arm, -1)
            else:
                self._learn(event.arm, event.reward)
        elif kind == Kind.RECORDED:
            assert event.arm is not None
            assert event.reward is not None
            self._await(event.arm, 1)
            self._learn(event.arm, event.reward)
        else:
            self._change(event)
        self.number = event.number

    def _await(self, place: int, change: int) -> None:
        """One reward more (1) or less (-1) that is still to come."""
        if place in self.retired:
            learnt = self.retired[place]
            self.retired[place] = learnt._replace(pending=learnt.pending + change)
        else:
            (self.agent.expect if change > 0 else self.agent.cancel)(self.register[place])

    def _learn(self, place: int, reward: float) -> None:
        self.told += 1
        self.reward += reward
        if place in self.retired:
            value = self.agent.scale.inward(reward)
            self.retired[place] = self.retired[place].told(self.agent.family, value)
        else:
            self.agent.tell(self.register[place], reward)

    def check_reward(self, place: int, reward: float) -> None:
        """Raise RewardError where the belief about an arm would leave its reach."""
        retired = self.retired.get(place)
        belief = self.agent.belief(self.register[place]) if retired is None else retired.belief
        self.agent.family.update(belief, self.agent.scale.inward(reward))

    def _change(self, event: Event) -> None:
        kind, body = event.kind, json.loads(event.body or "{}")
        if kind == Kind.PAUSED:
            self.paused = True
        elif kind == Kind.RESUMED:
            self.paused = False
        elif kind == Kind.ARM_ADDED and event.arm in self.retired:
            self.agent.add_arm(self.register[event.arm], learnt=self.retired.pop(event.arm))
        elif kind == Kind.ARM_ADDED:
            arm = state_file.decode_arm(body["name"], "the log")
            self.agent.add_arm(arm, body["prior"])
            self.places[arm] = len(self.register)
            self.register.append(arm)
            self.asks.append(0)
        elif kind == Kind.ARM_RETIRED:
            assert event.arm is not None
            self.retired[event.arm] = self.agent.remove_arm(self.register[event.arm])
        elif kind == Kind.POLICY_CHANGED:
            self.agent.policy = given_back(body["policy"], Policy)
        elif kind != Kind.CREATED:
            unknown = "which this belman does not know (install a newer one)"
            raise StateError(f"the log holds an event of kind {kind}, {unknown}")

    # Snapshots

    def to_text(self) -> str:
        """The whole state as text: equal texts are equal states, to the last bit."""
        # leaves what was learnt, and nothing of how it was worked with
        self.agent.policy = self.agent.policy
        self.agent.mind[:] = 0
        content = {
            "format": FORMAT,
            "number": self.number,
            "settings": json.loads(self.settings.to_json()),
            "agent": json.loads(self.agent.to_json()),
            "register": [state_file.encode_arm(arm) for arm in self.register],
            "retired": [[place, *learnt] for place, learnt in sorted(self.retired.items())],
            "outstanding": [[number, *ask] for number, ask in self.outstanding.items()],
            "asks": self.asks,
            "paused": self.paused,
            "expired": self.expired,
            "told": self.told,
            "reward": self.reward,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return f"{_digest(text)}\n{text}"

    @classmethod
    def from_text(cls, text: str) -> State:
        """The state of a text that `to_text` gave; raises StateError where it cannot be trusted."""
        digest, _, body = text.partition("\n")
        if digest != _digest(body):
            raise StateError("a snapshot is damaged: its checksum does not match its content")
        return state_file.trusted(lambda: cls._rebuilt(json.loads(body)), "a snapshot", "a study")

    @classmethod
    def _rebuilt(cls, content: dict[str, Any]) -> State:
        if (found := content["format"]) != FORMAT:
            raise StateError(f"a snapshot has format {found}: this belman reads {FORMAT}")
        state = cls(Settings.from_json(json.dumps(content["settings"])))
        state.agent = Agent.from_json(json.dumps(content["agent"]), source="a snapshot")
        state.register = [state_file.decode_arm(arm, "a snapshot") for arm in content["register"]]
        state.places = {arm: place for place, arm in enumerate(state.register)}
        for place, prior, belief, *rest in content["retired"]:
            state.retired[place] = Learnt(tuple(prior), tuple(belief), *rest)
        state.outstanding = {
            number: (place, time) for number, place, time in content["outstanding"]
        }
        state.asks = content["asks"]
        for name in ("paused", "number", "expired", "told", "reward"):
            setattr(state, name, content[name])
        check_snapshot(state)
        return state


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
