"""What saves time in versions of Numba on which it was tried, and is left out in others.

Numba optimises and assembles every function on its own and then again, inlined, in each of its
callers. For functions that are never entered from Python the first is waste: without it an entry
takes two thirds of the time to compile, and LLVM, which then sees a whole entry at once and
unoptimised, makes faster code of it. Its unit of linking is Numba's code library; ours links what
it calls and stops there. Counting references to arrays costs more than the mathematics of a turn:
kernels neither make nor return arrays, so nothing needs to be counted.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

import numba

#: The versions of Numba on which the shortcuts were tried (`make test-numba`).
TRIED = ("0.68",)


@functools.cache
def usable() -> bool:
    """Whether this Numba is one of those; `BELMAN_SHORTCUTS=0` does without."""
    wanted = os.environ.get("BELMAN_SHORTCUTS", "1") != "0"
    return wanted and ".".join(numba.__version__.split(".")[:2]) in TRIED


def entry_options() -> dict[str, Any]:
    """Options of what Python calls."""
    return {"no_cfunc_wrapper": True} if usable() else {}


def kernel_options(kind: Mapping[str, bool]) -> dict[str, Any]:
    """Options of kernels that compiled code calls."""
    if not usable():
        return {}
    return {
        "_nrt": bool(kind.get("allocating")),
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": True,
        "pipeline_class": _linked(),
    }


def offer_attributes(bundle_type: Any) -> None:
    """Let compiled code read the attributes of bundles without a function for each to compile."""
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic

    @infer_getattr
    class Attribute(AttributeTemplate):
        key = bundle_type

        def generic_resolve(self, kind: Any, attribute: str) -> Any:
            return numba.typeof(getattr(kind.bundle, attribute))

    @lower_getattr_generic(bundle_type)
    def attribute(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        return context.get_dummy_value()


@functools.cache
def _linked() -> Any:
    """The compiler of functions that Python does not call: to LLVM's language, not to machine
    code.
    """
    from numba import _dynfunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class Linked(JITCodeLibrary):
        """A function and all that it calls, neither optimised nor assembled."""

        def finalize(self) -> None:
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(NativeLowering):
        """Numba's own lowering, into such a library; callers find the function by a handle that
        holds no address.
        """

        _name = "belman_linked_lowering"

        def run_pass(self, state: Any) -> bool:
            name = state.func_id.func_qualname
            state.library = Linked(state.targetctx.codegen(), name)
            state.flags.no_compile = True
            super().run_pass(state)
            lowered = state["cr"]
            home = lowered.fndesc.lookup_module()
            handle = _dynfunc.make_function(
                home,
                name.split(".")[-1],
                "compiled code calls it",
                0,
                lowered.env,
                (state.library,),
            )
            state.targetctx.insert_user_function(handle, lowered.fndesc, [state.library])
            state["cr"] = lowered._replace(cfunc=handle)
            return True

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [
                (Lowering if each is NativeLowering else each, words)
                for each, words in manager.passes
            ]
            manager.finalize()
            return [manager]

    return Compiler
