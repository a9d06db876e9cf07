"""How kernels are compiled that only compiled code calls: to LLVM's language, not to machine code.

Numba optimises and assembles every function on its own and then again, inlined, in each of its
callers. For functions that are never entered from Python the first is waste: without it an entry
takes two thirds of the time to compile, and LLVM, which then sees a whole entry at once and
unoptimised, makes faster code of it. Its unit of linking is Numba's code library; ours links what
it calls and stops there.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Linked(JITCodeLibrary):
    """A function and all that it calls, neither optimised nor assembled."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Numba's own lowering, into such a library; callers find the function by a handle that holds
    no address.
    """

    _name = "belman_inside_lowering"

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = _Linked(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        home = lowered.fndesc.lookup_module()
        handle = _dynfunc.make_function(
            home, name.split(".")[-1], "compiled code calls it", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(handle, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=handle)
        return True


class Inside(CompilerBase):
    """The compiler of functions that Python does not call: `numba.njit(pipeline_class=Inside)`."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_Lowering if each is NativeLowering else each, words) for each, words in manager.passes
        ]
        manager.finalize()
        return [manager]
