"""Language of `programs`: Boolean expressions of Python over a vector x, and their lengths in bits.

Programs, in Polish notation
    x[i]            00    then i in ceil(log2 width) bits; true if not zero
    x[i] < x[j]     01    then the pair i != j in ceil(log2(width (width - 1))) bits; only if width > 1
    x[i] < c        100   then i in ceil(log2 width) bits, then the index of c among the constants
    not a           101   then a
    a and b         110   then a, then b
    a or b          111   then a, then b
    The code is prefix-free, so the sum of 2^-length over all programs is at most 1 (Kraft). Every program terminates on
    every x: the language is total.
Order
    By length. Among programs of one length: the x[i] by i, the x[i] < x[j] by i then j, the x[i] < c by i then c,
    the `not a` by a; the `a and b` by the length of a and then as below; the `a or b` in the same way.
    The programs `a and b` with a and b of given lengths form a rectangle, in row-major order: the operand whose length
    has fewer programs selects the row (the left one if equal), the other the column. So a row is a copy of one whole
    block, and finite/_loops/programs.py works on 64 programs at once.
"""

from __future__ import annotations

import ast
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.sizes import integer

NOT, AND, OR, FEATURE, PAIR, CONSTANT = 1, 2, 3, 4, 5, 6
"""Kinds of nodes; finite/_loops/programs.py uses the same numbers."""

PREFIX = {FEATURE: "00", PAIR: "01", CONSTANT: "100", NOT: "101", AND: "110", OR: "111"}
OPERATOR = 3  # bits of `not`, `and`, `or`

MOST_BITS = 256  # far above what memory allows, so that counting a class that will be refused is quick
MOST_FEATURES = 2**62


@dataclass(frozen=True, slots=True)
class Node:
    """Program as a tree: a leaf has i, and j (a feature or the index of a constant); other nodes have operands."""

    kind: int
    i: int = 0
    j: int = 0
    operands: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive programs of one length and kind.

    Attributes:
        kind: Kind of the root node.
        length: Bits of each program.
        first: Number of the first program.
        count: Number of programs.
        left: Length of the left operand.
        right: Length of the right operand.
    """

    kind: int
    length: int
    first: int
    count: int
    left: int = 0
    right: int = 0


def choice_bits(choices: int) -> int:
    """Return ceil(log2 choices)."""
    return (choices - 1).bit_length()


class Code:
    """Numbering, printing and parsing of the programs of at most `bits` bits, in O(bits^2) memory."""

    def __init__(self, bits: int, width: int, constants: Sequence[int | float]) -> None:
        self.bits = bits = integer(bits, "bits", f"bits must be an integer from 1 to {MOST_BITS}", 1, MOST_BITS)
        self.width = width = integer(width, "width", "width must be an integer from 1 to 2^62", 1, MOST_FEATURES)
        self.constants = constants = _constants(constants)
        pairs = width * (width - 1)
        leaves = [(FEATURE, 2 + choice_bits(width), width)]
        if bits < leaves[0][1]:
            raise InputError(f"bits must be at least {leaves[0][1]} to write x[i] with width {width}: got {bits}.")
        if pairs:
            leaves.append((PAIR, 2 + choice_bits(pairs), pairs))
        if constants:
            leaves.append((CONSTANT, 3 + choice_bits(width) + choice_bits(len(constants)), width * len(constants)))
        self.leaf_length = {kind: length for kind, length, _ in leaves}
        self.blocks: list[Block] = []
        self.counts = [0] * (bits + 1)
        for length in range(1, bits + 1):
            self._count(length, leaves)
        self.firsts = [0, *accumulate(self.counts)]  # of length L: firsts[L] .. firsts[L+1]-1
        self.size = self.firsts[-1]
        self._block_firsts = [block.first for block in self.blocks]
        self._block_at = {(block.kind, block.length, block.left): block for block in self.blocks}

    def _count(self, length: int, leaves: list[tuple[int, int, int]]) -> None:
        """Add the blocks of one length, after those of all shorter lengths."""
        first = start = self.blocks[-1].first + self.blocks[-1].count if self.blocks else 0
        parts = [(kind, count, 0, 0) for kind, its_length, count in leaves if its_length == length]
        rest = length - OPERATOR
        if rest > 0:
            parts.append((NOT, self.counts[rest], rest, 0))
            sides = [(left, rest - left) for left in range(1, rest)]
            products = [(self.counts[left] * self.counts[right], left, right) for left, right in sides]
            parts += [(kind, *product) for kind in (AND, OR) for product in products]
        for kind, count, left, right in parts:
            if count:
                self.blocks.append(Block(kind, length, first, count, left, right))
                first += count
        self.counts[length] = first - start

    def length(self, index: int) -> int:
        """Return the number of bits of program number `index`."""
        return bisect_right(self.firsts, index) - 1

    def left_is_row(self, block: Block) -> bool:
        """Return whether the left operand chooses the row of the rectangle."""
        return self.counts[block.left] <= self.counts[block.right]

    def sides(self, block: Block) -> tuple[int, int]:
        """Return the lengths of the row and the column operand; `not` has a column only, a leaf neither."""
        if block.kind == NOT:
            return 0, block.left
        return (block.left, block.right) if self.left_is_row(block) else (block.right, block.left)

    def tree(self, index: int) -> Node:
        """Return program number `index`."""
        block = self.blocks[bisect_right(self._block_firsts, index) - 1]
        rank = index - block.first
        if block.kind == FEATURE:
            return Node(FEATURE, rank)
        if block.kind == PAIR:
            i, j = divmod(rank, self.width - 1)
            return Node(PAIR, i, j + (j >= i))
        if block.kind == CONSTANT:
            return Node(CONSTANT, *divmod(rank, len(self.constants)))
        if block.kind == NOT:
            return Node(NOT, operands=(self.tree(self.firsts[block.left] + rank),))
        if self.left_is_row(block):
            left, right = divmod(rank, self.counts[block.right])
        else:
            right, left = divmod(rank, self.counts[block.left])
        operands = (self.tree(self.firsts[block.left] + left), self.tree(self.firsts[block.right] + right))
        return Node(block.kind, operands=operands)

    def tree_length(self, node: Node) -> int:
        """Return the number of bits of a program of any length."""
        if node.kind in self.leaf_length:
            return self.leaf_length[node.kind]
        return OPERATOR + sum(self.tree_length(operand) for operand in node.operands)

    def number(self, node: Node) -> int:
        """Return the number of a program of at most `bits` bits, the inverse of `tree`."""
        left = self.tree_length(node.operands[0]) if node.operands else 0
        block = self._block_at[node.kind, self.tree_length(node), left]
        if node.kind == FEATURE:
            rank = node.i
        elif node.kind == PAIR:
            rank = node.i * (self.width - 1) + node.j - (node.j > node.i)
        elif node.kind == CONSTANT:
            rank = node.i * len(self.constants) + node.j
        else:
            ranks = [self.number(operand) - self.firsts[self.tree_length(operand)] for operand in node.operands]
            if node.kind == NOT:
                rank = ranks[0]
            elif self.left_is_row(block):
                rank = ranks[0] * self.counts[block.right] + ranks[1]
            else:
                rank = ranks[1] * self.counts[block.left] + ranks[0]
        return block.first + rank

    def code(self, node: Node) -> str:
        """Return the code of a program as a string of 0s and 1s."""
        prefix = PREFIX[node.kind]
        if node.kind == FEATURE:
            return prefix + _digits(node.i, self.width)
        if node.kind == PAIR:
            pair = node.i * (self.width - 1) + node.j - (node.j > node.i)
            return prefix + _digits(pair, self.width * (self.width - 1))
        if node.kind == CONSTANT:
            return prefix + _digits(node.i, self.width) + _digits(node.j, len(self.constants))
        return prefix + "".join(self.code(operand) for operand in node.operands)

    def source(self, node: Node) -> str:
        """Return Python source with the fewest parentheses: `not` binds tighter than `and`, `and` than `or`."""
        if node.kind == FEATURE:
            return f"x[{node.i}]"
        if node.kind == PAIR:
            return f"x[{node.i}] < x[{node.j}]"
        if node.kind == CONSTANT:
            return f"x[{node.i}] < {self.constants[node.j]!r}"
        if node.kind == NOT:
            return f"not {self._operand(node.operands[0], (AND, OR))}"
        # `and` and `or` associate to the left, so a right operand of the same kind needs parentheses.
        loose = (OR,) if node.kind == AND else ()
        left, right = node.operands
        word = "and" if node.kind == AND else "or"
        return f"{self._operand(left, loose)} {word} {self._operand(right, (*loose, node.kind))}"

    def _operand(self, node: Node, loose: tuple[int, ...]) -> str:
        source = self.source(node)
        return f"({source})" if node.kind in loose else source

    def parse(self, source: str) -> Node:
        """Return the program with this source; raise InputError if it is not in the language."""
        try:
            node = self._read(ast.parse(str(source).strip(), mode="eval").body)
            length = self.tree_length(node)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            raise InputError(
                "a program must be made of x[i], x[i] < x[j], x[i] < c, not, and, or, with i, j different and below "
                f"{self.width} and c one of {list(self.constants)}: got {source!r}."
            ) from None
        if length > self.bits:
            raise InputError(f"a program must have at most {self.bits} bits: {source!r} has {length}. Allow more bits.")
        return node

    def _read(self, tree: ast.expr) -> Node:
        """Return the node of a Python expression; raise ValueError if there is none."""
        match tree:
            case ast.Subscript():
                return Node(FEATURE, self._feature(tree))
            case ast.Compare(left=left, ops=[ast.Lt()], comparators=[ast.Subscript() as right]):
                i, j = self._feature(left), self._feature(right)
                if i == j:
                    raise ValueError("a pair of one feature")
                return Node(PAIR, i, j)
            case ast.Compare(left=left, ops=[ast.Lt()], comparators=[right]):
                constant = ast.literal_eval(right)
                if type(constant) not in (int, float):
                    raise ValueError("a constant that is not a number")
                return Node(CONSTANT, self._feature(left), self.constants.index(constant))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Node(NOT, operands=(self._read(operand),))
            case ast.BoolOp(op=operator, values=[first, *others]):
                node = self._read(first)
                for other in others:
                    node = Node(AND if isinstance(operator, ast.And) else OR, operands=(node, self._read(other)))
                return node
        raise ValueError("no program")

    def _feature(self, tree: ast.expr) -> int:
        """Return the i of x[i]."""
        match tree:
            case ast.Subscript(value=ast.Name(id="x"), slice=ast.Constant(value=int(i))):
                if type(i) is int and 0 <= i < self.width:
                    return i
        raise ValueError("no feature")


def _digits(value: int, choices: int) -> str:
    width = choice_bits(choices)
    return format(value, f"0{width}b") if width else ""


def _constants(constants: Sequence[int | float]) -> tuple[int | float, ...]:
    """Return distinct finite numbers that are exact as floats, so that compiled loops compare as Python does."""
    if not isinstance(constants, Iterable):
        raise InputError(f"constants must be a list of numbers: got {shown(constants)}.")
    values = [value.item() if isinstance(value, np.generic) else value for value in constants]
    for value in values:
        if type(value) not in (int, float) or abs(value) >= 2**1023 or math.isnan(value) or float(value) != value:
            raise InputError(f"a constant must be a finite number that a float holds exactly: got {shown(value)}.")
    if len(set(values)) < len(values):
        raise InputError(f"constants must be different numbers: got {values}.")
    return tuple(values)
