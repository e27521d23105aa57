"""Parts of loops: functions that are only linked into the compiled loops that call them.

numba translates each function to machine code, and again as part of every function that calls it. A part is optimised
but has no machine code of its own. The same holds for numba's implementations of operators and array functions, which
are compiled in every process and never called from Python. What callers link is the same code as with numba alone.

numba finds the implementation of each operation by trying those of strings, lists, sets and so on, a tenth of the
time of compiling. It is remembered here for each combination of types.

What this module replaces in numba is private; tests/numerics/test_linking.py covers it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler, types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.target_extension import get_local_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing import templates

from novikoff.numerics.caching import LoopCache


class PartLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Code of a part, which is not given to the engine that makes machine code."""

    @property
    def codegen(self) -> Any:
        """Itself: numba asks for it to set addresses in machine code."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: only errors with arguments from the loop would use the environment."""

    def enable_object_caching(self) -> None:
        """Do nothing: there is no object code."""

    def get_pointer_to_function(self, name: str) -> int:
        """Finish the library; return 0, no address."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return the name and LLVM's bitcode."""
        self._ensure_finalized()
        return self.name, self._get_module_for_linking().as_bitcode()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class PartCompiler(compiler.Compiler):  # type: ignore[misc, unused-ignore]
    """numba's compiler, with a library of a part."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class Rebuilding:
    """Target context of numba, and its code generator, for one library that has been read already."""

    def __init__(self, context: Any, library: PartLibrary) -> None:
        self.typing_context, self.get_executable = context.typing_context, context.get_executable
        self.library = library

    def codegen(self) -> Rebuilding:
        """Return itself."""
        return self

    def unserialize_library(self, data: object) -> PartLibrary:
        """Return the library."""
        return self.library


class PartImpl(CompileResultCacheImpl):  # type: ignore[misc, unused-ignore]
    """Reads parts from the cache."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the compiled part."""
        (name, bitcode), *rest = payload
        library = PartLibrary(target_context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        made = compiler.CompileResult._rebuild(Rebuilding(target_context, library), None, *rest)
        return made._replace(target_context=target_context)


class PartCache(LoopCache):
    """Cache of one part."""

    _impl_class = PartImpl  # type: ignore[assignment, unused-ignore]


PART = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
"""Options of numba for a part."""


def remember_implementations() -> None:
    """Let numba find the implementation of an operation once for each combination of types."""
    function: Any = types.functions.BaseFunction
    find = function.get_call_type
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return find(self, context, args, kws)
        key = self.templates, context, tuple(args), ConfigStack.top_or_none(), get_local_target(context)
        found = known.get(key)
        if found is None:
            signature = find(self, context, args, kws)
            found = known[key] = signature, self._impl_keys[signature.args]
        signature, self._impl_keys[signature.args] = found
        return signature

    function.get_call_type = get_call_type


def link_implementations() -> None:
    """Compile numba's implementations of operations as parts."""
    template: Any = templates._OverloadFunctionTemplate
    find = template._get_jit_decorator

    def _get_jit_decorator(self: Any) -> Callable[..., Any]:
        decorator = find(self)
        return lambda **options: decorator(**{**PART, **options})

    template._get_jit_decorator = _get_jit_decorator
