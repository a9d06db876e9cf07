"""The clients of GrowthBook, OpenFeature and Eppo in Node.js decide by our weights."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import belman
from belman.bridges import eppo, growthbook
from belman.bridges.growthbook_conditions import fits
from belman.studies import open_study
from tests.bridges.test_eppo import served
from tests.bridges.test_growthbook_leaves import contextual, user
from tests.waiting import HANG

FOLDER = Path(__file__).with_name("node")
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed"),
    pytest.mark.skipif(
        not (FOLDER / "node_modules").is_dir(), reason="`make clients` installs the Node clients"
    ),
]
UNITS = 1_000


def run(script: str, service, **given) -> object:
    """What a script prints last, as JSON; `given` and the service's `url` are its variables."""
    names = {"url": service.url, "units": UNITS, **given}
    head = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in names.items())
    done = subprocess.run(
        [NODE, "--input-type=module", "-"],
        input=head + script,
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(study, rows) -> None:
    """Hold frequencies against chances, five standard deviations (errs once in 10⁶ an arm), and
    let the study learn.
    """
    weights, counts = study.weights(), Counter(row["arm"] for row in rows)
    for arm, chance in zip(weights.arms, weights.weights, strict=True):
        spread = (chance * (1 - chance) * len(rows)) ** 0.5
        assert abs(counts[arm] - len(rows) * chance) < 5 * spread
    before = study.status()["told"]
    assert study.observe(rows) == len(rows)
    assert study.status()["told"] == before + len(rows)
    assert study.copied()[0].tally.bets.outcomes == len(rows)


def test_growthbook(service, flags):
    script = """
    import { GrowthBookClient } from "@growthbook/growthbook";
    const seen = [];
    const client = new GrowthBookClient({
      apiHost: url, clientKey: "sdk-1",
      trackingCallback: (experiment, result) => { seen.push([experiment, result]); },
    });
    await client.init({ timeout: 20000 });
    for (let i = 0; i < units; i++) {
      const value = client.evalFeature("checkout", { attributes: { id: `user-${i}` } }).value;
      if (typeof value !== "string") throw new Error(String(value));
    }
    const french = client.evalFeature("offer", { attributes: { id: "u", country: "fr" } });
    console.log(JSON.stringify({ seen: seen.slice(0, units), french: french.experiment.phase }));
    client.destroy();
    """
    matches = run(script, service)
    rows = [
        growthbook.row(experiment, result, float(i % 2))
        for i, (experiment, result) in enumerate(matches["seen"])
    ]
    assert len(rows) == UNITS
    check(flags["checkout"], rows)
    assert matches["french"] == str(flags["offer"].weights({"country": "fr"}).version)


def test_growthbook_decides_by_leaves(service):
    """A study along features: every unit gets what its weights document says, also where the
    client knows less of it.
    """
    study = contextual(service.storage)
    weights = study.publish(100, by="growthbook")
    assert len(weights.contexts.leaves) > 1
    rng = np.random.default_rng(6)
    units_of = {f"user-{i}": user(rng) for i in range(UNITS)}
    script = """
    import { GrowthBookClient } from "@growthbook/growthbook";
    const seen = [];
    const client = new GrowthBookClient({
      apiHost: url, clientKey: "sdk-1",
      trackingCallback: (experiment, result) => { seen.push([experiment, result]); },
    });
    await client.init({ timeout: 20000 });
    for (const [id, who] of Object.entries(all)) {
      client.evalFeature("offer", { attributes: { id, ...who } });
    }
    console.log(JSON.stringify(seen));
    client.destroy();
    """
    rows = [
        growthbook.row(experiment, result, float(i % 2), context=units_of[result["hashValue"]])
        for i, (experiment, result) in enumerate(run(script, service, all=units_of))
    ]
    assert len(rows) == UNITS
    for row in rows:
        assert belman.assign(weights, row["unit"], row["context"]).arm == row["arm"]
    before = study.status()["told"]
    assert study.observe(rows) == UNITS
    assert study.status()["told"] == before + UNITS


SERVER = """
    import { OpenFeature } from "@openfeature/server-sdk";
    import { OFREPProvider } from "@openfeature/ofrep-provider";
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url }));
    const client = OpenFeature.getClient(), rows = [];
    for (let i = 0; i < units; i++) {
      const unit = `user-${i}`;
      const { value, flagMetadata } =
        await client.getStringDetails("checkout", "none", { targetingKey: unit });
      rows.push({ unit, version: flagMetadata.version, arm: value, reward: i % 2 });
    }
    const missing = await client.getStringDetails("nothing", "none", { targetingKey: "u" });
    const nobody = await client.getStringDetails("checkout", "none", {});
    console.log(JSON.stringify({ rows, missing: missing.errorCode, nobody: nobody.errorCode }));
    await OpenFeature.close();
"""


def test_the_remote_provider_of_servers(service, flags):
    matches = run(SERVER, service)
    check(flags["checkout"], matches["rows"])
    assert (matches["missing"], matches["nobody"]) == ("FLAG_NOT_FOUND", "TARGETING_KEY_MISSING")


WEB = """
    import { OpenFeature } from "@openfeature/web-sdk";
    import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
    const rows = [];
    for (let i = 0; i < 60; i++) {
      const targetingKey = `user-${i}`;
      await OpenFeature.setContext({ targetingKey, country: "fr" });
      if (i === 0) {
        const options = { baseUrl: url, pollInterval: 0 };
        await OpenFeature.setProviderAndWait(new OFREPWebProvider(options));
      }
      const client = OpenFeature.getClient();
      const { value, flagMetadata } = client.getStringDetails("checkout", "none");
      rows.push({ unit: targetingKey, version: flagMetadata.version, arm: value, reward: i % 2 });
    }
    console.log(JSON.stringify({ rows }));
    await OpenFeature.close();
"""


def test_the_web_provider(service, flags):
    matches = run(WEB, service)
    check(flags["checkout"], matches["rows"])


def test_eppo(tmp_path):
    """Their bandit gets what the study believes, and chooses as we say."""
    url = f"sqlite:///{tmp_path}/studies.db"
    settings = {"context": ["age", "country", "member"], "model": "linear", "floor": 0.05}
    study = open_study("banner", ["blue", "green"], storage=url, seed=7, **settings)
    study.record([("blue", 0.1 * age, {"age": age, "country": "fr"}) for age in range(20, 60)])
    study.record([("green", 3.0, {"age": age, "member": True}) for age in range(20, 60)])
    bandit, rng = eppo.bandit(study), random.Random(7)
    contexts = [
        {
            "age": rng.uniform(10, 70),
            "country": rng.choice(["fr", "é"]),
            "member": rng.random() < 0.5,
        }
        for _ in range(UNITS)
    ]
    contexts = [
        {name: value for name, value in one.items() if rng.random() < 0.8} for one in contexts
    ]
    script = """
    process.env.LOG_LEVEL = "silent";  // it logs to standard output
    const { default: eppo } = await import("@eppo/node-server-sdk");
    const events = [];
    const client = await eppo.init({
      apiKey: "any", baseUrl: url, pollingIntervalMs: 3600000,
      assignmentLogger: { logAssignment() {} },
      banditLogger: { logBanditAction(event) { events.push(event); } },
    });
    client.setIsGracefulFailureMode(false);
    contexts.forEach((context, i) =>
      client.getBanditAction("banner", `user-${i}`, context, { blue: {}, green: {} }, "none"));
    client.stopPolling();
    process.stdout.write(JSON.stringify(events), () => process.exit(0));
    """
    with served(bandit) as address:
        events = run(script, SimpleNamespace(url=address), contexts=contexts)
    rows = [eppo.row(event, 1.0, [bandit]) for event in events]
    assert len(rows) == UNITS
    for row, given in zip(rows, contexts, strict=True):
        assert row["chances"] == bandit.chances(given)
    for arm in bandit.arms:
        chances = [row["chances"][arm] for row in rows]
        spread = sum(chance * (1 - chance) for chance in chances) ** 0.5
        assert abs(sum(row["arm"] == arm for row in rows) - sum(chances)) < 5 * spread
    assert study.observe(rows) == UNITS
    study.storage.close()


VALUES = [None, True, False, 0, 1, 5, -3, 2.5, "", "a", "B", "b", "5", "1.2.0", "abc", "true"]


def some_value(rng, deep=2):
    if deep and rng.random() < 0.3:
        if rng.random() < 0.6:
            return [some_value(rng, deep - 1) for _ in range(rng.randrange(4))]
        return {rng.choice("xyz"): some_value(rng, deep - 1) for _ in range(rng.randrange(3))}
    return rng.choice(VALUES)


def some_operator(rng, deep=2):
    """Whatever an operator may ask, where the client has it and the published cases agree."""
    values = [rng.choice(VALUES) for _ in range(rng.randrange(4))]
    asked = {
        **{name: rng.choice(VALUES) for name in ("$eq", "$ne", "$lt", "$lte", "$gt", "$gte")},
        **dict.fromkeys(("$in", "$nin", "$ini", "$nini"), values),
        **{f"$v{name}": rng.choice(["1.2.0", "1.10.0", "v2", "1.2.0-beta", "5"])
           for name in ("gt", "gte", "lt", "lte", "eq", "ne")},
        **dict.fromkeys(("$inGroup", "$notInGroup"), rng.choice(["g", "none"])),
        "$exists": rng.random() < 0.5,
        "$type": rng.choice(["null", "string", "number", "boolean", "array", "object"]),
        "$size": rng.choice([0, 1, 2, {"$gt": 1}]),
    }  # fmt: skip
    if deep:
        inner = some_operator(rng, deep - 1)
        asked |= {"$not": inner, "$elemMatch": rng.choice([inner, {"x": inner}])}
        asked |= dict.fromkeys(("$all", "$alli"), [inner] * rng.randrange(3))
    name = rng.choice(list(asked))
    return {name: asked[name]}


def some_condition(rng, deep=2):
    if deep and rng.random() < 0.2:
        several = [some_condition(rng, deep - 1) for _ in range(rng.randrange(3))]
        name = rng.choice(["$or", "$and", "$nor", "$not"])
        return {name: some_condition(rng, deep - 1) if name == "$not" else several}
    paths = rng.sample(["x", "y", "x.y", "x.0", "y.z.x"], rng.randrange(1, 3))
    return {path: some_operator(rng) for path in paths}


def test_growthbooks_conditions_hold_where_the_time_machine_says():
    """5,000 conditions at random, each on attributes at random."""
    rng, groups = random.Random(7), {"g": [1, "a", None, 5]}
    cases = [
        [some_condition(rng), {one: some_value(rng) for one in "xyz" if rng.random() < 0.8}]
        for _ in range(5_000)
    ]
    script = """
    import { GrowthBook } from "@growthbook/growthbook";
    console.log(JSON.stringify(cases.map(([condition, attributes]) => new GrowthBook({
      attributes, savedGroups: groups,
      features: { f: { defaultValue: false, rules: [{ condition, force: true }] } },
    }).evalFeature("f").value)));
    """
    matches = run(script, SimpleNamespace(url=""), cases=cases, groups=groups)
    assert 0.2 < sum(matches) / len(matches) < 0.8
    for (condition, attributes), wanted in zip(cases, matches, strict=True):
        assert fits(condition, attributes, groups) is wanted, (condition, attributes)
