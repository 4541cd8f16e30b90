"""Everything of the config that FKS metrics read."""

from typing import Literal

import msgspec

Coverage = Literal["full_set", "complete_family"]
Subset = Literal["all", "drop_spec_6_2_flagged", "answer_in_subject", "answer_not_in_subject"]
Whitening = Literal["none", "center", "zca"]
Transport = Literal["raw", "jlens"]
KtsMetric = Literal["cosine", "euclidean"]

COVERAGES: tuple[Coverage, ...] = ("full_set", "complete_family")
SUBSETS: tuple[Subset, ...] = ("all", "drop_spec_6_2_flagged", "answer_in_subject", "answer_not_in_subject")
ANCHOR = "anchor"


class BootstrapSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Resamples, seed of `numpy.random.default_rng`, and coverage of the percentile interval."""

    resamples: int = 2000
    seed: int = 20260101
    level: float = 0.95


class InternalSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hidden states become ISS and KTS.

    Attributes
    ----------
    iss_whitening : tuple
        Forms of whitening under which ISS is reported; the first is the one of the main table.
    kts_geo_whitening, kts_id_whitening : str
        Whitening of the representatives; KTS-Geo has none by default, since an affine map common to all conditions
        is not among its invariances.
    shrinkage : float
        Lambda of the shrunk covariance, in (0, 1].
    kts_geo_min_facts, kts_id_min_facts : int
        Facts that a pair of families must share in a relation.
    memory_mib : int
        Working memory for states and covariances; layers are taken in groups that fit. Decides no number.
    """

    transports: tuple[Transport, ...] = ("raw",)
    iss_whitening: tuple[Whitening, ...] = ("zca", "center", "none")
    kts_geo_whitening: Whitening = "none"
    kts_id_whitening: Whitening = "zca"
    kts_id_metrics: tuple[KtsMetric, ...] = ("cosine",)
    shrinkage: float = 0.1
    kts_geo_min_facts: int = 5
    kts_id_min_facts: int = 2
    joint_min_facts: int = 5
    memory_mib: int = 1536


class MetricSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of `assay.fks.metrics:compute`, which the config has checked.

    They are no part of the config's own module, so that an edit there changes no recipe; defaults are the same.

    Attributes
    ----------
    dataset, model, method, profile : str
        Columns of the tidy table.
    setting : dict
        Further `key=value` pairs of the `setting` column that are the same in every row (dtype, seed ...).
    main_families : tuple of str
        Families that enter the main average; the variant without the anchor is always reported too.
    taus, primary_tau
        Thresholds of the behaviour classes; joint analysis and main table use the primary one.
    drop_spec_6_2_flagged, drop_answer_in_subject : bool
        Switches that remove such facts from every main number (the subsets are reported either way).
    filter_model : bool
        The model was among those whose first token decided which facts were kept; its scores are favoured.
    """

    dataset: str
    model: str
    method: str = "greedy"
    profile: str = "corrected"
    setting: dict[str, str] = {}
    main_families: tuple[str, ...] = (ANCHOR, "paraphrase", "format", "context", "multilingual")
    coverage_modes: tuple[Coverage, ...] = COVERAGES
    subsets: tuple[Subset, ...] = SUBSETS
    taus: tuple[float, ...] = (0.7, 0.8, 0.9)
    primary_tau: float = 0.8
    drop_spec_6_2_flagged: bool = False
    drop_answer_in_subject: bool = False
    filter_model: bool = False
    bootstrap: BootstrapSettings = BootstrapSettings()
    internal: InternalSettings = InternalSettings()

    @property
    def anchor_variants(self) -> "tuple[tuple[bool, tuple[str, ...]], ...]":
        """Main families with and without the anchor; one variant where nothing else is left or it is not there."""
        rest = tuple(family for family in self.main_families if family != ANCHOR)
        if len(rest) == len(self.main_families):
            return ((False, rest),)
        return ((True, self.main_families), (False, rest)) if rest else ((True, self.main_families),)
