"""Reading the collectives from the text of an XLA program."""

from __future__ import annotations

from tensorbackend.backends.jax_backend.virtual import collectives

TEXT = """HloModule jit_f, num_partitions=8

%add (a: f32[], b: f32[]) -> f32[] {
  ROOT %sum = f32[] add(%a, %b)
}

%body (state: (s64[], f32[4,8])) -> (s64[], f32[4,8]) {
  %all-gather.1 = f32[4,8]{1,0} all-gather(%part), channel_id=1, replica_groups=[4,2]<=[8], dimensions={1}
  ROOT %state.1 = (s64[], f32[4,8]) tuple(%next, %all-gather.1)
}

%condition (state.2: (s64[], f32[4,8])) -> pred[] {
  ROOT %less = pred[] compare(%i, %n), direction=LT
}

ENTRY %main (x: f32[4,8]) -> f32[4,8] {
  %all-reduce.2 = (f32[], bf16[4,8]{1,0}) all-reduce(%a, %b), channel_id=2, replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=%add, metadata={op_name="jit(f)/dot"}
  %while.1 = (s64[], f32[4,8]) while(%start), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"7"}}
  %reduce-scatter.1 = f32[1,8]{1,0} reduce-scatter(%c), replica_groups=mesh['data'=4,'model'=2] {'data'}, dimensions={0}, to_apply=%add
  %all-gather-start.1 = (f32[2,8]{1,0}, f32[4,8]{1,0}) all-gather-start(%d), replica_groups=[4,2]<=[8], dimensions={0}
  %all-gather-done.1 = f32[4,8]{1,0} all-gather-done(%all-gather-start.1)
  %shift = s64[3]{0} collective-permute(%e), source_target_pairs={{0,1},{1,0}}
  ROOT %get-tuple-element.1 = f32[4,8] get-tuple-element(%while.1), index=1
}
"""  # noqa: E501


def test_kinds_groups_bytes_and_turns() -> None:
    figures = [
        (collective.kind, collective.devices, collective.nbytes, collective.runs) for collective in collectives(TEXT)
    ]
    assert figures == [
        ("all-reduce", 4, 4 + 2 * 32, 1),
        ("all-gather", 2, 4 * 32, 7),
        ("reduce-scatter", 4, 4 * 8 * 4, 1),
        ("all-gather", 2, 4 * 32, 1),
        ("collective-permute", 2, 8 * 3, 1),
    ]
    assert collectives(TEXT)[0].op == "jit(f)/dot"
