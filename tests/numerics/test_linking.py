"""Parts of loops have no machine code of their own; implementations of operations are found once."""

import numba
import numpy as np
import pytest
from numba.core import types
from numba.extending import overload

from novikoff.numerics import compiled as compiling
from novikoff.numerics.linking import PartLibrary


def halved(x):
    return np.floor(x / 2.0)


def ratio(a, b):
    raise NotImplementedError


@overload(ratio)
def ratio_of_numbers(a, b):
    return lambda a, b: a / b


def library(dispatcher):
    (found,) = dispatcher.overloads.values()
    return found.library


def has_machine_code(dispatcher):
    code = library(dispatcher)
    return code._codegen._engine.is_symbol_defined(next(iter(dispatcher.overloads.values())).fndesc.llvm_func_name)


def test_a_part_is_linked_into_its_caller_and_has_no_machine_code():
    part = compiling.inner(lambda x: 3.0 * x)

    @compiling.compiled
    def caller(x):
        return part(x) + part(2.0)

    assert caller(1.0) == 9.0
    assert isinstance(library(part.part), PartLibrary)
    assert (has_machine_code(caller), has_machine_code(part.part)) == (True, False)


def test_a_part_that_is_read_from_the_cache_is_linked_into_a_new_caller(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    hits = []
    for shift in (1.0, 2.0):
        part = compiling.inner(halved)

        def caller(x, part=part.part, shift=shift):
            return part(x) + shift

        assert compiling.compiled(caller)(7.0) == 3.0 + shift
        hits.append(sum(part.part.stats.cache_hits.values()))
    assert hits == [0, 1]


def test_numbas_implementations_of_operations_have_no_machine_code():
    @compiling.compiled
    def quotient(a, b):
        return ratio(a, b)

    assert quotient(3.0, 2.0) == 1.5
    (implementation,) = {one for one, _ in template_of(ratio)._impl_cache.values()}
    assert isinstance(library(implementation), PartLibrary)


def template_of(function):
    context = numba.core.registry.cpu_target.typing_context
    (template,) = context.resolve_value_type(function).templates
    return template


def test_implementations_are_found_once_for_each_type_and_option(monkeypatch):
    """Division by zero is an error or infinity, depending on an option of the caller."""

    def quotient(a, b):
        return ratio(a, b)

    python, numpy = (numba.njit(error_model=model)(quotient) for model in ("python", "numpy"))
    assert numpy(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        python(1.0, 0.0)
    applied = []
    template = template_of(ratio)
    monkeypatch.setattr(template, "apply", lambda self, *given: applied.append(given))
    assert numba.njit(error_model="numpy")(lambda a, b: ratio(a, b))(1.0, 4.0) == 0.25
    assert applied == []


def test_operation_without_an_implementation_is_an_error_each_time():
    for _ in range(2):
        with pytest.raises(numba.TypingError, match="No implementation of function"):
            compiling.compiled(lambda text: text + 1).compile((types.unicode_type,))
