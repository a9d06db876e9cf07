"""Every test plays compiled code, unless it says otherwise; and linear algebra has one
thread, for two processes share the cores, and threads that wait for one another keep them busy.
"""

import gc
import os
import re
from collections.abc import Generator, Iterator

import numpy as np
import pytest

os.environ.setdefault("BELMAN_COMPILE", "first")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
#: litellm takes its prices from its package, and not from the network as it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
#: Thousands of tests are many objects that stay, and the default looks for garbage every 700.
gc.set_threshold(100_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Compile nothing while tests are collected: every process would, for what it never runs."""
    from belman.engine import tiers

    with tiers.interpreted(), np.errstate(all="ignore"):
        return (yield)


@pytest.fixture(autouse=True)
def _names_are_free_again() -> Iterator[None]:
    """What a test or an example registers is forgotten at its end: others may use its names."""
    from belman.exposure import Exposure
    from belman.families import Family
    from belman.models import Model
    from belman.policies import Policy
    from belman.policies.change.detectors import Detector
    from belman.policies.dependent.policy import DependentPolicy

    kinds = (Exposure, Family, Model, Policy, Detector, DependentPolicy)
    known = [set(kind.registry) for kind in kinds]
    yield
    for kind, names in zip(kinds, known, strict=True):
        for name in set(kind.registry) - names:
            if not kind.registry[name].__module__.startswith("belman."):
                del kind.registry[name]


#: Rooms whose docstrings play thousands of turns, and words of examples and pages that do.
_PLAY = re.compile(r"/belman/(lab|suite|figures|plots|measures|engine)/")
_PLAYED = re.compile(r"simulate|explore\(|queue\(|trial\(|attainable\(")


@pytest.fixture(autouse=True)
def _examples_are_interpreted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let Python run the kernels of an example: to compile them takes seconds for a few calls."""
    from belman.engine import tiers

    example = getattr(request.node, "dtest", None)
    words = "".join(one.source for one in example.examples) if example else ""
    if not words or _PLAYED.search(words) or _PLAY.search(request.path.as_posix()):
        yield
    else:
        with tiers.interpreted(), np.errstate(all="ignore"):
            yield


#: Modules that run in the environments of other libraries.
collect_ignore_glob = ["tools/peers/*"]
#: Sphinx and litellm need not be installed; tests/docs/test_tutorials.py runs tutorials whole.
collect_ignore = ["docs/conf.py", "docs/tutorials", "tools/extension"]
collect_ignore += ["src/belman/bridges/litellm_router.py"]
