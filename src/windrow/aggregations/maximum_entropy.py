"""From moments to quantiles, by the distribution of largest entropy (Gan et al. 2018).

Of all distributions with the given moments, this takes the one of largest entropy. Its density on
[-1, 1] is the exponential of a polynomial. The coefficients minimize a convex function: the
integral of the density less the coefficients times the moments. Newton's method finds them, for
many rows at once. The moments are those of Chebyshev's polynomials, which are better conditioned
than powers. If there are few values, far apart, no smooth density may have their moments. Then the
method leaves out as many moments as necessary. Without any moment, the density is constant.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

#: integrals are sums over so many points
_POINTS = 160
#: steps of Newton's method, how short the last try of one is, and when it has arrived
_STEPS, _SHORTEST, _CLOSE = 40, 1e-4, 1e-8
#: the distribution is tabulated at so many points
_TABLE = 513
#: rows that are solved together, so that intermediate arrays stay in the cache
_TOGETHER = 64


def quantiles(means: Any, shares: Any) -> Any:
    """The quantiles in [-1, 1] of rows of means of powers, the zeroth power first."""
    found = np.empty((len(means), len(shares)))
    for first in range(0, len(means), _TOGETHER):
        chunk = slice(first, first + _TOGETHER)
        found[chunk] = _tabulated(_coefficients(_of_polynomials(means[chunk])), shares)
    return found


def _of_polynomials(means: Any) -> Any:
    """The means of Chebyshev's polynomials."""
    count = means.shape[1]
    powers = np.zeros((count, count))
    for degree in range(count):
        powers[degree, : degree + 1] = np.polynomial.chebyshev.cheb2poly(
            np.eye(count)[degree, : degree + 1]
        )
    return means @ powers.T


def _coefficients(moments: Any) -> Any:
    """The coefficients of the logarithm of each density."""
    found = np.zeros_like(moments)
    found[:, 0] = -np.log(2.0)  # constant, unless more is found
    usable = np.isfinite(moments).cumprod(axis=1).sum(axis=1)
    missing = np.arange(len(moments))
    for count in range(moments.shape[1], 1, -1):
        tried = missing[usable[missing] >= count]
        solved, close = _newton(moments[tried, :count])
        found[tried[close], :count] = solved[close]
        missing = np.setdiff1d(missing, tried[close])
        if not len(missing):
            break
    return found


def _newton(moments: Any) -> tuple[Any, Any]:
    """Coefficients, and which of them give the moments."""
    rows = _Rows(moments)
    moving = np.arange(len(moments))
    for _ in range(_STEPS):
        moving = rows.advance(moving[rows.errors(moving) > _CLOSE])
        if not len(moving):
            break
    return rows.found, rows.errors(slice(None)) <= _CLOSE


@functools.cache
def _quadrature() -> tuple[Any, Any]:
    return np.polynomial.legendre.leggauss(_POINTS)


class _Rows:
    """Newton's method, one problem for each row, at the coefficients that were found so far."""

    def __init__(self, moments: Any) -> None:
        points, self._weights = _quadrature()
        count = moments.shape[1]
        self._wide = np.polynomial.chebyshev.chebvander(points, 2 * count - 2)
        self._basis = np.ascontiguousarray(self._wide[:, :count])
        # The product of two of Chebyshev's polynomials is the mean of two others.
        place = np.arange(count)
        self._sums, self._gaps = np.add.outer(place, place), abs(np.subtract.outer(place, place))
        self._moments = moments
        self.found = np.zeros_like(moments)
        self.found[:, 0] = -np.log(2.0)
        self._value, self._mass = self._at(self.found, slice(None))

    def _at(self, coefficients: Any, rows: Any) -> tuple[Any, Any]:
        """What is minimized, and the density at each point times the point's weight."""
        mass = np.exp(np.minimum(coefficients @ self._basis.T, 500.0)) * self._weights
        return mass.sum(axis=1) - (coefficients * self._moments[rows]).sum(axis=1), mass

    def _slope(self, rows: Any) -> Any:
        return self._mass[rows] @ self._basis - self._moments[rows]

    def errors(self, rows: Any) -> Any:
        """By how much the moments are missed."""
        return np.abs(self._slope(rows)).max(axis=1, initial=0.0)

    def advance(self, rows: Any) -> Any:
        """Take a step, or a half, a quarter, ... of it, that makes less; tell which rows moved."""
        step, length, moved = self._step(rows), 1.0, [rows[:0]]
        while len(rows) and length > _SHORTEST:
            there = self.found[rows] - length * step
            value, mass = self._at(there, rows)
            less = value <= self._value[rows]
            moved.append(rows[less])
            self.found[moved[-1]] = there[less]
            self._value[moved[-1]], self._mass[moved[-1]] = value[less], mass[less]
            rows, step, length = rows[~less], step[~less], length / 2
        return np.concatenate(moved)

    def _step(self, rows: Any) -> Any:
        means = self._mass[rows] @ self._wide
        curvature = (means[:, self._sums] + means[:, self._gaps]) / 2
        # A little more curvature: a density of one point has none in most directions.
        more = 1e-12 * np.trace(curvature, axis1=1, axis2=2) + 1e-300
        curvature += more[:, np.newaxis, np.newaxis] * np.eye(len(self._sums))
        return np.linalg.solve(curvature, self._slope(rows)[:, :, np.newaxis])[:, :, 0]


def _tabulated(coefficients: Any, shares: Any) -> Any:
    """The quantiles of densities, read off their distributions at many points."""
    points = np.linspace(-1.0, 1.0, _TABLE)
    logarithm = (
        coefficients @ np.polynomial.chebyshev.chebvander(points, coefficients.shape[1] - 1).T
    )
    density = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    reached = np.zeros_like(density)
    reached[:, 1:] = np.cumsum((density[:, 1:] + density[:, :-1]) / 2, axis=1)
    reached /= reached[:, -1:]
    return np.array([np.interp(shares, row, points) for row in reached])
