"""Cluster permutation test (sign flips), corrected for multiple metrics by step-down maxT.

H0: baseline and candidate are exchangeable within a cluster.  The same flip is applied to all metrics, so correlation
is kept, and the correction costs far less than Bonferroni's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .precision import TIE

FloatArray = NDArray[np.float64]

MAX_ENUMERATED = 13
"""Up to this many differing clusters all 2^G sign patterns (8,192 at most) are tried, beyond it random ones."""

_CHUNK_CELLS = 1_000_000  # signs in memory at once; a large suite would else need gigabytes


def cluster_sums(
    differences: Sequence[Mapping[str, float]], clusters: Mapping[str, str]
) -> tuple[FloatArray, FloatArray]:
    """Sum each metric's *differences* (case id → difference); a case without a cluster is its own cluster.

    Return two G by M arrays: the sums D_g by cluster and metric, 0 if a cluster has no case of the metric, and the
    numbers of cases n_g.  Clusters and cases are sorted by name, so that draws and rounding do not depend on the order
    in which cases finished.
    """
    cases = set[str]().union(*differences)
    row = {name: g for g, name in enumerate(sorted({clusters.get(case, case) for case in cases}))}
    sums = np.zeros((len(row), len(differences)))
    counts = np.zeros_like(sums)
    for m, by_case in enumerate(differences):
        for case in sorted(by_case):
            g = row[clusters.get(case, case)]
            sums[g, m] += by_case[case]
            counts[g, m] += 1
    sums[np.abs(sums) <= TIE] = 0.0
    return sums, counts


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """The outcome of `sign_flip_test`; arrays have one entry per metric.

    z = -ΣD_g / √ΣD_g² is large if the metric dropped; 0 if nothing differs.

    Attributes:
        p_raw: one-sided mid-p, not corrected for other metrics.
        p_adjusted: the mid-p corrected for the family.
        p_exact: the corrected p with full ties, which keeps the level exactly, as few clusters need.
        gain_adjusted, gain_exact: the same two for a gain.
        critical_value: the 1 - alpha quantile of the largest z under sign flips, or None if nothing differs.
    """

    p_raw: FloatArray
    p_adjusted: FloatArray
    p_exact: FloatArray
    gain_adjusted: FloatArray
    gain_exact: FloatArray
    critical_value: float | None


def sign_flip_test(sums: FloatArray, *, alpha: float = 0.05, draws: int = 9999) -> SignFlipTest:
    """Test M metrics for a drop by flipping the signs of G clusters.

    *sums* are G by M cluster sums, negative where the candidate is worse; *alpha* is the family-wise level of the
    critical value.  *draws* random sign patterns are tried if there are too many to enumerate.

    Source: Westfall & Young (1993), *Resampling-Based Multiple Testing*, step-down maxT.
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
        p_raw=_p_values(z, z_star, enumerated=enumerated),
        p_adjusted=_step_down(z, z_star, enumerated=enumerated),
        p_exact=_step_down(z, z_star, enumerated=enumerated, tie_weight=1.0),
        gain_adjusted=_step_down(-z, -z_star, enumerated=enumerated),
        gain_exact=_step_down(-z, -z_star, enumerated=enumerated, tie_weight=1.0),
        critical_value=None if critical is None else float(critical),
    )


def _p_values(z: FloatArray, z_star: FloatArray, *, enumerated: bool, tie_weight: float = 0.5) -> FloatArray:
    """Return the share of sign patterns above *z*; a tie counts *tie_weight*: one half gives the mid-p.

    Random patterns do not include the observed one, so it is added, as a tie.
    """
    unseen = 0 if enumerated else 1
    above = np.sum(z_star > z + TIE, axis=0)
    ties = np.sum(np.abs(z_star - z) <= TIE, axis=0) + unseen
    return np.asarray((above + tie_weight * ties) / (len(z_star) + unseen), dtype=np.float64)


def _step_down(z: FloatArray, z_star: FloatArray, *, enumerated: bool, tie_weight: float = 0.5) -> FloatArray:
    """Correct for the family: the j-th largest z is compared with the largest z* of metrics j, j+1, …, M."""
    order = np.argsort(-z, kind="stable")
    max_of_rest = np.maximum.accumulate(z_star[:, order[::-1]], axis=1)[:, ::-1]
    p_sorted = _p_values(z[order], max_of_rest, enumerated=enumerated, tie_weight=tie_weight)
    p_adjusted = np.empty_like(p_sorted)
    p_adjusted[order] = np.maximum.accumulate(p_sorted)  # a smaller z never gets a smaller p
    return p_adjusted


def _all_signs(clusters: int) -> Iterator[FloatArray]:
    """Yield all 2^G patterns as one array of ±1."""
    pattern = np.arange(2**clusters)[:, None]
    yield 1.0 - 2.0 * ((pattern >> np.arange(clusters)) & 1).astype(np.float64)


def _random_signs(clusters: int, draws: int) -> Iterator[FloatArray]:
    """Yield *draws* patterns of ±1 in chunks."""
    bits = np.random.PCG64(0)  # numpy promises the same raw bits in every version, on every machine
    words = -(-clusters // 64)
    chunk = max(1, _CHUNK_CELLS // (64 * words))
    for start in range(0, draws, chunk):
        n = min(chunk, draws - start)
        raw = bits.random_raw(n * words).astype("<u8", copy=False).view(np.uint8).reshape(n, words * 8)
        signs = np.unpackbits(raw, axis=1, count=clusters).astype(np.float64)
        signs *= -2.0  # in place, as new arrays of this size are slow
        signs += 1.0
        yield signs
