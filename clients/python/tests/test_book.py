"""A book on a real cluster."""

from __future__ import annotations

import conftest
import pytest

import corridor

GAMES = "# two games\nfirst\te2 e8 e3\n\ne2 e8 d8h\n"


def test_import_analyze_lookup_export(client: corridor.Client) -> None:
    book = client.book("one")
    imported = book.import_games(GAMES, notation="man")
    assert (imported.games, imported.new_positions, imported.faults) == (2, 5, ())
    assert book.import_games(GAMES.splitlines(), notation="man").new_positions == 0

    events = list(book.analyze(depth=2, deterministic=True))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    accepted, done = events[0], events[-1]
    assert isinstance(accepted, corridor.BookAccepted) and (accepted.book, accepted.total) == ("one", 5)
    assert isinstance(done, corridor.BookDone)
    assert (done.searched, done.left, done.stopped_by) == (5, 0, "complete")
    found = [event.node for event in events if isinstance(event, corridor.BookPosition)]
    assert len({node.key for node in found}) == 5

    node = book.lookup("e2 e8")
    asked = ["analyze", "--moves", "e2 e8", "--depth", "2", "--deterministic", "--workers", "1"]
    wanted = conftest.command_line(*asked)[-1]
    assert node.score is not None and node.score.as_json() == wanted["score_white"]
    assert (node.depth, node.nodes, node.bound) == (2, wanted["nodes"], "exact")
    assert {child.move for child in node.children} == {"e3", "d8h"}
    assert node.value is not None and node.value.source in ("search", "backed_up")

    exported = list(book.export())
    keys = [node.key for node in exported]
    assert keys == sorted(keys) and len(keys) == 5
    assert list(book.export(after=keys[1])) == exported[2:]
    with_moves = list(book.export(root_moves=True))
    assert all(len(node.root_moves) > 20 for node in with_moves)

    copy = client.book("copy")
    assert copy.import_nodes(exported).new_values == 5
    assert copy.lookup("e2 e8").score == node.score
    assert copy.check() == corridor.Checked(5, (), 0, False)
    assert {it.book: it.analysed for it in client.books()}.items() >= {"one": 5, "copy": 5}.items()


def test_expand_adds_and_searches(client: corridor.Client) -> None:
    book = client.book("grown")
    book.import_games("e2", notation="man")
    assert book.analyze(depth=1).result().stopped_by == "complete"
    done = book.expand(positions=3, depth=1).result()
    assert isinstance(done, corridor.BookDone)
    assert (done.added, done.positions) == (3, 5)


def test_a_large_import_goes_in_parts(client: corridor.Client) -> None:
    # More than a message may have.
    filler = "# " + "x" * 100_000
    lines = [filler] * 250 + ["e2 e8"] + [filler] * 10
    imported = client.book("large").import_games(lines, notation="man")
    assert (imported.games, imported.positions, imported.fault_count) == (1, 3, 0)


def test_a_message_may_be_larger_than_the_usual_4_mib_and_not_beyond_16(client: corridor.Client) -> None:
    book = client.book("long")
    assert book.import_games(["e2 e8", "# " + "x" * (6 << 20)], notation="man").positions == 3
    with pytest.raises(corridor.ResourceExhausted, match="larger"):
        book.import_games(["# " + "x" * (17 << 20)], notation="man")


def test_faults_name_their_line_and_ply(client: corridor.Client) -> None:
    book = client.book("faulty")
    imported = book.import_games(["e2 e8", "e2 e8 e9", "e2 e2"], notation="man")
    assert [(fault.line, fault.ply) for fault in imported.faults] == [(2, 3), (3, 2)]
    assert (imported.fault_count, imported.positions) == (2, 0), "nothing is added"
    kept = book.import_games(["e2 e8", "e2 e8 e9"], notation="man", keep_going=True)
    assert (kept.fault_count, kept.positions) == (1, 3)


def test_refusals(client: corridor.Client) -> None:
    with pytest.raises(corridor.NotFound, match="not in book 'nowhere'"):
        client.book("nowhere").lookup("")
    with pytest.raises(corridor.NotFound):
        list(client.book("nowhere").export())
    with pytest.raises(corridor.NotFound):
        client.book("nowhere").analyze(depth=1)
    with pytest.raises(corridor.InvalidArgument) as refused:
        client.book("no name").import_games("e2", notation="man")
    assert refused.value.field == "book"
    client.book("lone").import_games("e2", notation="man")
    with pytest.raises(corridor.NotFound, match="position"):
        client.book("lone").lookup("e2 e8")
    with pytest.raises(corridor.InvalidArgument) as refused:
        client.book("lone").analyze()
    assert refused.value.field == "limits"
