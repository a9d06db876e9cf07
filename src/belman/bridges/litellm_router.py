"""litellm: a routing strategy and callback by which studies pick the deployments of a router."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import uuid
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from belman.bridges.routed_calls import RoutedCalls, check_patience
from belman.errors import (
    BelmanError,
    BudgetError,
    SettingError,
    UnknownTicketError,
    listing,
    needing,
    shown,
)
from belman.studies import Study

with needing("a routing strategy of litellm", "litellm", "litellm"):
    import litellm
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.router import CustomRoutingStrategyBase

log = logging.getLogger("belman.bridges")

T = TypeVar("T")
Quality = Callable[[Any], float | Awaitable[float | None] | None]
Context = Callable[[Any, Mapping[str, Any]], Mapping[str, Any] | None]
#: Where the ticket of a decision stands in the `model_info` of a deployment.
TICKET, GROUP, ROUTING = "belman_ticket", "belman_group", "belman_routing"
#: Where the arm stands of a call that no ask decided, and whose cost counts.
ARM = "belman_arm"
#: What is told of a call, beside its quality.
TOLD = ("dollars", "failed", "seconds")


class Marks(NamedTuple):
    """What a deployment says of the call that it was picked for; without a ticket no ask did."""

    group: str
    ticket: str | None
    arm: Hashable


class BelmanRouting(CustomRoutingStrategyBase, CustomLogger):
    """Pick among the healthy deployments of a model group by a study, and tell it the outcome.

    It is both a routing strategy and a callback: `router.set_custom_routing_strategy(routing)`,
    and `litellm.callbacks.append(routing)`. It is safe to share between threads and event loops;
    the studies are asked and told in threads of their own. Groups without a study are routed as
    the router would.

    Parameters
    ----------
    router
        The `litellm.Router`.
    studies
        A study for each group, by the group's `model_name`. Its arms are the `id` in `model_info`
        of deployments, or their model, as in "openai/gpt-4o". Leave the studies to this object.
    quality
        What an answer is worth, a number or (of a judge) an awaitable of one; None where it comes
        later, by `tell`. By default 1. A failure has 0.
    context
        What the study is asked with, of the messages and the metadata of a request. By default a
        study with segments finds them in the metadata; one that is not there is "unknown".
    session
        The name in the metadata by which a session stays where its first call went.
    patience
        Seconds after which a call that was not heard of any more is given back.
    """

    def __init__(
        self,
        router: litellm.Router,
        studies: Mapping[str, Study],
        *,
        quality: Quality | None = None,
        context: Context | None = None,
        session: str = "session_id",
        patience: float = 600.0,
    ) -> None:
        super().__init__()
        self.name = (
            f"belman-{uuid.uuid4()}"  # litellm takes callbacks for one that differ in nothing
        )
        self._router, self._quality, self._context = router, quality, context
        self._session, waits = session, check_patience(patience)
        for group, study in studies.items():
            _check_study(router, group, study, context is not None)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="belman-route")
        self._thread.daemon = True
        self._thread.start()
        self._calls = {group: RoutedCalls(study, waits) for group, study in studies.items()}
        self._arms = {group: frozenset(study.settings.arms) for group, study in studies.items()}
        self._tasks: weakref.WeakKeyDictionary[asyncio.Task[Any], set[tuple[str, str]]]
        self._tasks = weakref.WeakKeyDictionary()

    # The strategy

    async def async_get_available_deployment(  # type: ignore[override, unused-ignore]
        self,
        model: str,
        request_kwargs: dict[str, Any],
        messages: Any = None,
        input: Any = None,
        specific_deployment: bool | None = False,
    ) -> Any:
        """Return the deployment that a request goes to."""
        asked = {"messages": messages, "input": input, "specific_deployment": specific_deployment}
        group, router = self._group(model), self._router
        if group is None:
            default = type(router).async_get_available_deployment
            return await default(router, model, request_kwargs, **asked)
        result = await router.async_get_healthy_deployments(model, request_kwargs, **asked)
        if isinstance(result, dict):  # the request named it
            return result
        call = request_kwargs.setdefault("litellm_call_id", str(uuid.uuid4()))
        if (task := asyncio.current_task()) is not None:
            self._give_back_where_cancelled(task, group, call)
        deciding = self._decided(group, result, messages or input, request_kwargs)
        return await asyncio.wrap_future(self._submit(deciding))

    def get_available_deployment(  # type: ignore[override, unused-ignore]
        self,
        model: str,
        messages: Any = None,
        input: Any = None,
        specific_deployment: bool | None = False,
        request_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Return the deployment that a request goes to, for callers that do not await."""
        asked = {"messages": messages, "input": input, "specific_deployment": specific_deployment}
        group, router, request = self._group(model), self._router, request_kwargs
        request = {} if request is None else request
        if group is None:
            default = type(router).get_available_deployment
            return default(router, model, request_kwargs=request, **asked)

        async def choose() -> Any:
            result = await router.async_get_healthy_deployments(model, request, **asked)
            if isinstance(result, dict):
                return result
            return await self._decided(group, result, messages or input, request)

        return self._submit(choose()).result()

    def _group(self, model: str) -> str | None:
        """Return the group with a study that a model is, or is an alias of."""
        alias = (self._router.model_group_alias or {}).get(model, model)
        name = alias["model"] if isinstance(alias, dict) else alias
        return name if name in self._calls else None

    async def _decided(
        self, group: str, healthy: list[dict[str, Any]], messages: Any, request: dict[str, Any]
    ) -> dict[str, Any]:
        """Return a deployment, with the ticket in its `model_info` where a study decided."""
        calls, arms = self._calls[group], self._arms[group]
        targets = {_id(one): arm for one in healthy if (arm := _arm(one, arms)) is not None}
        if not targets:
            log.warning("group %r: no healthy deployment is an arm of its study", group)
            return healthy[0]
        metadata = _metadata(request)
        if self._context is not None:
            context = self._context(messages, metadata)
        else:
            context = {name: metadata.get(name, "unknown") for name in calls.segments} or None
        call = request.setdefault("litellm_call_id", str(uuid.uuid4()))
        session = self._session_in(metadata)
        try:
            target, ticket = await calls.choose(targets, call, context, session)
        except BudgetError as error:
            row = (await calls.study.status())["budget"]
            spent, message = row["spent"] + row["expected"], str(error)
            raise litellm.BudgetExceededError(spent, row["amount"], message) from error
        (chosen,) = (one for one in healthy if _id(one) == target)
        if ticket is not None or calls.cost is not None:
            marks = {TICKET: ticket, ARM: targets[target], GROUP: group, ROUTING: self.name}
            chosen = {**chosen, "model_info": {**chosen["model_info"], **marks}}
        return chosen

    def _session_in(self, metadata: Mapping[str, Any]) -> str | None:
        session = metadata.get(self._session)
        return None if session is None else str(session)

    def _give_back_where_cancelled(self, task: asyncio.Task[Any], group: str, call: str) -> None:
        """Give the calls of a task that are under way back where it ends by being cancelled."""
        if (known := self._tasks.get(task)) is not None:
            known -= {one for one in known if not self._calls[one[0]].waits_for(one[1])}
            known.add((group, call))
            return
        made = self._tasks[task] = {(group, call)}

        def ended(task: asyncio.Task[Any]) -> None:
            if task.cancelled() and not self._loop.is_closed():
                for group, call in made:
                    self._submit(self._logged(self._calls[group].cancel(call)))

        task.add_done_callback(ended)

    # The callback

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Tell the study of an answer."""
        if (marks := self._marks(kwargs)) is not None:
            quality = await self._graded(response_obj, marks)
            told = self._answered(marks, kwargs, quality, start_time, end_time)
            await asyncio.wrap_future(self._submit(self._logged(told)))

    def log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Tell the study of an answer, in a thread of litellm's."""
        if (marks := self._marks(kwargs)) is not None:
            quality = _run(self._graded(response_obj, marks))
            told = self._answered(marks, kwargs, quality, start_time, end_time)
            self._submit(self._logged(told)).result()

    async def async_log_failure_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Tell the study of a failure."""
        if self._loop.is_closed():
            return
        told = self._failed(kwargs, start_time, end_time)
        await asyncio.wrap_future(self._submit(self._logged(told)))

    def log_failure_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Tell the study of a failure, in a thread of litellm's."""
        if self._loop.is_closed():
            return
        self._submit(self._logged(self._failed(kwargs, start_time, end_time))).result()

    def _marks(self, kwargs: Mapping[str, Any]) -> Marks | None:
        """Return the group, the ticket and the arm of a call, if this object routed it."""
        info = (kwargs.get("litellm_params") or {}).get("model_info") or {}
        is_own = info.get(ROUTING) == self.name and not self._loop.is_closed()
        return Marks(info[GROUP], info[TICKET], info[ARM]) if is_own else None

    async def _graded(self, response: Any, marks: Marks) -> Any:
        """Return the quality of an answer, or the error of who judges it."""
        try:
            is_asked = self._quality is not None and marks.ticket is not None
            result = 1.0 if self._quality is None or not is_asked else self._quality(response)
            return await result if inspect.isawaitable(result) else result
        except Exception as error:  # the judge's, of any kind
            log.warning("an answer has no quality, and its ticket is given back", exc_info=True)
            return error

    async def _answered(
        self, marks: Marks, kwargs: Any, quality: Any, start: Any, end: Any
    ) -> None:
        calls, metrics = self._calls[marks.group], _metrics(kwargs, start, end, 0.0)
        is_cached = bool(kwargs.get("cache_hit"))
        if marks.ticket is None:
            await calls.spent(marks.arm, {} if is_cached else metrics)
        elif is_cached:
            await calls.give_back(marks.ticket)
        elif isinstance(quality, Exception):
            await calls.spoilt(marks.ticket, metrics)
        else:
            await calls.ended(marks.ticket, metrics, quality)

    async def _failed(self, kwargs: Any, start: Any, end: Any) -> None:
        parameters = kwargs.get("litellm_params") or {}
        session = self._session_in(_metadata(parameters))
        group = (parameters.get("metadata") or {}).get("model_group")
        calls = self._calls.get(self._group(group) or "") if isinstance(group, str) else None
        if session is not None and calls is not None:
            calls.leave(session)
        if (marks := self._marks(kwargs)) is None or (ticket := marks.ticket) is None:
            return
        calls = self._calls[marks.group]
        if type(kwargs.get("exception")) is litellm.BadRequestError:  # the request's own fault
            await calls.give_back(ticket)
        else:
            await calls.ended(ticket, _metrics(kwargs, start, end, 1.0), 0.0)

    async def _logged(self, work: Awaitable[None]) -> None:
        """Log what a study refuses: no request fails by what becomes of its outcome."""
        try:
            await work
        except BelmanError as error:
            log.warning("an outcome was not told: %s", error)

    # For a person

    async def atell(self, call: str, quality: float) -> None:
        """Tell the quality of an answer later, as `tell` does, and await that."""
        await asyncio.wrap_future(self._submit(self._tell(call, quality)))

    def tell(self, call: str, quality: float) -> None:
        """Tell the quality of an answer later.

        Parameters
        ----------
        call
            Its `litellm_call_id`, which is in the hidden parameters of a response, and which a
            proxy sends as the header `x-litellm-call-id`.
        quality
            What the answer was worth.

        Raises
        ------
        UnknownTicketError
            Where no decision of this object's waits for the quality of that call.
        """
        self._submit(self._tell(call, quality)).result()

    async def _tell(self, call: str, quality: float) -> None:
        for calls in self._calls.values():
            if calls.waits_for(call):
                await calls.tell(call, quality)
                return
        why = "it was told, given back, followed its session, or was made elsewhere"
        raise UnknownTicketError(f"call {shown(call)} waits for no quality: {why}")

    def close(self) -> None:
        """Give back what is under way, and end the threads; storages stay open.

        It is no callback of litellm's any more, and its router needs another strategy.
        """
        if self._loop.is_closed():
            return
        litellm.logging_callback_manager.remove_callback_from_all_lists(self)
        for calls in self._calls.values():
            self._submit(calls.close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def _check_study(router: Any, group: str, study: object, has_context: bool) -> None:
    if not isinstance(study, Study):
        raise SettingError(f"the study of group {group!r} is {shown(study)}: open_study makes one")
    deployments = router.get_model_list(group) or []
    arms = frozenset(study.settings.arms)
    if not any(_arm(one, arms) is not None for one in deployments):
        known = [name for one in deployments for name in (_id(one), _model(one))]
        remedy = (
            f"its deployments are {listing(known)}" if known else "the router has no such group"
        )
        raise SettingError(f"study {study.name!r} has no arm in group {group!r}: {remedy}")
    budget = study.settings.budget
    if budget is not None and budget.metric not in TOLD:
        remedy = f"give one of {listing(TOLD)}"
        raise SettingError(f"study {study.name!r} has a budget of {budget.metric!r}: {remedy}")
    if study.settings.has_features and not has_context:
        remedy = "give context=, a function of messages and metadata"
        raise SettingError(f"study {study.name!r} decides in contexts: {remedy}")


def _id(deployment: Mapping[str, Any]) -> str:
    return str(deployment["model_info"]["id"])


def _model(deployment: Mapping[str, Any]) -> str:
    return str(deployment["litellm_params"]["model"])


def _arm(deployment: Mapping[str, Any], arms: frozenset[Hashable]) -> Hashable | None:
    """Return the arm that a deployment is, if it is any."""
    return next((name for name in (_id(deployment), _model(deployment)) if name in arms), None)


def _metadata(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a request says of itself; a proxy has it in a second place."""
    return {**(request.get("litellm_metadata") or {}), **(request.get("metadata") or {})}


def _metrics(kwargs: Mapping[str, Any], start: Any, end: Any, failed: float) -> dict[str, float]:
    """Return what a call took; without dollars where litellm knows no price."""
    result = {"seconds": max(0.0, (end - start).total_seconds()), "failed": failed}
    cost = kwargs.get("response_cost")
    if failed or cost is not None:
        result["dollars"] = float(cost or 0.0)
    return result


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine where perhaps no loop runs, and perhaps one does."""
    result: list[T] = []
    thread = threading.Thread(target=lambda: result.append(asyncio.run(work)))
    thread.start()
    thread.join()
    return result[0]
