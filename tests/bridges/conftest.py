"""A service with studies that are flags, for clients that people have already."""

from __future__ import annotations

import pytest

from belman.studies import open_study
from tests.service.running import running


@pytest.fixture
def service(tmp_path):
    with running(tmp_path) as result:
        yield result


@pytest.fixture
def flags(service):
    """Two studies published for GrowthBook, one of them by segment, and one for our clients."""
    rule = {"storage": service.storage, "seed": 7}
    checkout = open_study("checkout", ["blue", "green", "red"], control="blue", floor=0.05, **rule)
    checkout.record([("blue", 1), ("green", 0), ("red", 0)] * 5)
    checkout.publish(200, every=60, by="growthbook")
    offer = open_study("offer", [1, 2], segments=["country"], floor=0.1, **rule)
    for country, arm in (("fr", 1), ("de", 2)):
        offer.record([(one, float(one == arm), {"country": country}) for one in (1, 2) * 20])
        offer.publish(100, segment={"country": country}, by="growthbook")
    banner = open_study("banner", ["on", "off"], floor=0.1, **rule)
    banner.publish(100)
    return {"checkout": checkout, "offer": offer, "banner": banner}


@pytest.fixture(autouse=True)
def no_pools():
    """Close the connections that GrowthBook's client keeps for the whole process."""
    yield
    try:
        from growthbook import feature_repo
    except ImportError:
        return
    if feature_repo.http is not None:
        feature_repo.http.clear()
    feature_repo.clear_cache()
