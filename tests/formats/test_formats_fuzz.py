"""Whatever stands in a file, it gives samples or an `InputError`; nothing else is ever raised."""

import gzip

from hypothesis import HealthCheck, given, settings, strategies as st

from ragassay.base.errors import InputError
from ragassay.formats import Notes, all_formats, from_records, load
from ragassay.formats.native import dump
from ragassay.formats.records import field_names

names = st.sampled_from([n for f, others in field_names.ALIASES.items() for n in (f, *others)])
inner_names = st.sampled_from(
    ["text", "content", "id", "doc_id", "score", "start", "end", "document", "metadata", "grade",
     "speaker", "role", "citations", "statements", "enrichments", "answerability", "question",
     "response", "source"]
)  # fmt: skip
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["user", "agent", "['a' 'b']", '["a"]', "[{", "PARTIAL", "1e400", "nan"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_names, inner, max_size=3),
    max_leaves=6,
)
records = st.dictionaries(names | st.text(max_size=3), values, max_size=6)


@settings(max_examples=200, deadline=None)
@given(records, st.none() | st.just("|"))
def test_any_record_is_a_sample_or_an_input_error(record, separator) -> None:
    try:
        samples = list(from_records([record], separator=separator, notes=Notes()))
    except InputError as error:
        assert error.line == 1
        return
    (sample,) = samples
    assert isinstance(sample.id, str)
    dump(sample)


pieces = st.sampled_from(
    [b"{", b"}", b"[", b"]", b'"id"', b'"query"', b'"a"', b":", b",", b"\n", b"\r\n", b"1",
     b"id,query\n", b"\t", b'"', b"\xff", b"\xef\xbb\xbf", b"\x00", b"PAR1", b"\x1f\x8b", b" ",
     b'{"id": 1, "query": "q"}\n', b"1 Q0 d 1 2.0 t\n",
     b"query,passage_id,passage,generated_answer\n", b"NaN",
     b'{"results": [{"query_id": 1, "gt_answer": "a"}]}']
)  # fmt: skip
contents = st.lists(pieces, max_size=12).map(b"".join) | st.binary(max_size=30)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents, st.booleans(), st.none() | st.sampled_from(sorted(all_formats())))
def test_any_file_gives_samples_or_an_input_error(tmp_path, content, packed, name) -> None:
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(content) if packed else content)
    try:
        assert load(path, format=name, notes=Notes())
    except InputError as error:
        assert str(path) in str(error)
