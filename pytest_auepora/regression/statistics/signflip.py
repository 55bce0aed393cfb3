"""Joint sign flips: how often chance alone makes a drop look this clear, for one metric and for a whole family.

If the candidate is no different from the baseline, then in every cluster of cases the two could as well be
exchanged, and exchanging them turns the sign of the cluster's difference.  So the observed drop is compared
with the drops under random signs.  One sign turns a cluster in all metrics at once: that keeps the metrics as
correlated as they are, which is why the step-down adjustment costs far less than a Bonferroni factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .precision import TIE

FloatArray = NDArray[np.float64]

MAX_ENUMERATED = 13
"""Up to this many differing clusters all 2^G sign patterns are tried (8,192 at most); beyond it, random ones."""

_CHUNK_CELLS = 1_000_000
"""Signs held in memory at once, so that a large suite does not need gigabytes."""


def cluster_sums(
    differences: Sequence[Mapping[str, float]], clusters: Mapping[str, str]
) -> tuple[FloatArray, FloatArray]:
    """Sum each metric's *differences* (case id → difference); a case without a cluster is one by itself.

    Return two G by M arrays: D_g of each cluster and metric, 0 where a cluster has no case of that metric, and n_g, the
    number of cases behind it.  Clusters and cases are taken in the order of their names: the same data give the same
    draws and the same rounding, whatever order a run finished in.
    """
    cases = set[str]().union(*differences)
    row = {name: g for g, name in enumerate(sorted({clusters.get(case, case) for case in cases}))}
    sums = np.zeros((len(row), len(differences)))
    counts = np.zeros_like(sums)
    for m, of_metric in enumerate(differences):
        for case in sorted(of_metric):
            g = row[clusters.get(case, case)]
            sums[g, m] += of_metric[case]
            counts[g, m] += 1
    sums[np.abs(sums) <= TIE] = 0.0
    return sums, counts


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """The outcome of `sign_flip_test`; arrays have one entry per metric.

    Attributes:
        z: -ΣD_g / √ΣD_g², large when the metric dropped; 0 where nothing differs.
        p_raw: one-sided mid-p of each metric taken alone.
        p_adjusted: the same, adjusted for the whole family.
        p_exact: adjusted as well, ties counted in full: never below the level, as few clusters need it.
        gain_adjusted, gain_exact: the same two for a gain.
        critical_value: the 1 - alpha quantile of the largest z under sign flips, or None where nothing differs.
        enumerated: whether every sign pattern was tried.
    """

    z: FloatArray
    p_raw: FloatArray
    p_adjusted: FloatArray
    p_exact: FloatArray
    gain_adjusted: FloatArray
    gain_exact: FloatArray
    critical_value: float | None
    enumerated: bool


def sign_flip_test(sums: FloatArray, *, alpha: float = 0.05, draws: int = 9999) -> SignFlipTest:
    """Test M metrics for a drop by flipping the signs of G clusters.

    Args:
        sums: G by M cluster sums, negative where the candidate is worse.
        alpha: the family-wise level `SignFlipTest.critical_value` is for.
        draws: random sign patterns where there are too many to try all.

    Source of the method: Westfall & Young (1993), *Resampling-Based Multiple Testing*, step-down maxT.
    """
    differing = sums[np.any(sums != 0.0, axis=1)]
    enumerated = len(differing) <= MAX_ENUMERATED
    root = np.sqrt(np.sum(differing**2, axis=0))
    per_root = np.divide(-1.0, root, out=np.zeros_like(root), where=root > 0.0)

    z = differing.sum(axis=0) * per_root
    patterns = _all_signs(len(differing)) if enumerated else _random_signs(len(differing), draws)
    z_star = np.concatenate([(signs @ differing) * per_root for signs in patterns])

    varying = z_star[:, root > 0.0]
    critical = np.quantile(varying.max(axis=1), 1.0 - alpha, method="inverted_cdf") if varying.size else None
    return SignFlipTest(
        z=z,
        p_raw=_beyond(z, z_star, enumerated=enumerated),
        p_adjusted=_step_down(z, z_star, enumerated=enumerated),
        p_exact=_step_down(z, z_star, enumerated=enumerated, tied=1.0),
        gain_adjusted=_step_down(-z, -z_star, enumerated=enumerated),
        gain_exact=_step_down(-z, -z_star, enumerated=enumerated, tied=1.0),
        critical_value=None if critical is None else float(critical),
        enumerated=enumerated,
    )


def _beyond(z: FloatArray, z_star: FloatArray, *, enumerated: bool, tied: float = 0.5) -> FloatArray:
    """Return the share of sign patterns beyond *z*; a tie counts as *tied*: half of one gives the mid-p.

    Random patterns do not include the observed one, so it is added, as a tie with itself.
    """
    above = np.sum(z_star > z + TIE, axis=0)
    ties = np.sum(np.abs(z_star - z) <= TIE, axis=0)
    patterns = len(z_star)
    beyond = above + tied * ties
    share: Any = beyond / patterns if enumerated else (beyond + tied) / (patterns + 1)
    return np.asarray(share, dtype=np.float64)


def _step_down(z: FloatArray, z_star: FloatArray, *, enumerated: bool, tied: float = 0.5) -> FloatArray:
    """Adjust for the family: the j-th clearest drop stands against the largest z* of metrics j, j+1, …, M."""
    clearest_first = np.argsort(-z, kind="stable")
    largest_from_here_on = np.maximum.accumulate(z_star[:, clearest_first[::-1]], axis=1)[:, ::-1]
    p_sorted = _beyond(z[clearest_first], largest_from_here_on, enumerated=enumerated, tied=tied)
    p_adjusted = np.empty_like(p_sorted)
    p_adjusted[clearest_first] = np.maximum.accumulate(p_sorted)  # a less clear drop never gets a smaller p
    return p_adjusted


def _all_signs(clusters: int) -> Iterator[FloatArray]:
    """Yield all 2^G patterns as one array of ±1."""
    pattern = np.arange(2**clusters)[:, None]
    yield 1.0 - 2.0 * ((pattern >> np.arange(clusters)) & 1).astype(np.float64)


def _random_signs(clusters: int, draws: int) -> Iterator[FloatArray]:
    """Yield *draws* patterns of ±1, some at a time.

    The raw bits of PCG64 are taken because numpy promises them to be the same in every version, on every machine.
    """
    bits = np.random.PCG64(0)
    words = -(-clusters // 64)
    chunk = max(1, _CHUNK_CELLS // (64 * words))
    for start in range(0, draws, chunk):
        n = min(chunk, draws - start)
        raw = bits.random_raw(n * words).astype("<u8", copy=False).view(np.uint8).reshape(n, words * 8)
        signs = np.unpackbits(raw, axis=1, count=clusters).astype(np.float64)
        signs *= -2.0  # in place: fresh arrays of this size cost more than what is computed in them
        signs += 1.0
        yield signs
