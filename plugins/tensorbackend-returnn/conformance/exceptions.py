"""RETURNN's tests that fail with our backend, with the reasons. A listed test that no longer fails is an error."""

from __future__ import annotations

GATE = "RETURNN's packed backend does this for backends named torch or jax alone, and refuses to unpack for others"

EXCEPTIONS: dict[tuple[str, str], str] = {
    (run, f"test_rf_packed.{test}"): GATE
    for run in ("numpy", "jax")
    for test in (
        "test_aed_aux_ctc_stripped_real_model",
        "test_batch_norm_packed_gapped_train",
        "test_ctc_loss_packed_native",
        "test_full_model_packed_traced_program_replay_fallback_att",
    )
} | {
    (run, f"test_rf_jax.{test}"): reason
    for run in ("jax.numpy", "jax.jax")
    for test, reason in (
        ("test_select_backend_and_dispatch", "it asserts the name of RETURNN's own backend"),
        (
            "test_get_existing_models_ignores_empty_checkpoint_dir",
            "it is of checkpoints, whose suffix depends on the name of RETURNN's own backend",
        ),
    )
}
"""The reason for each run and test."""

OF_PYTORCH: dict[str, str] = {
    "test_rf_attention.py::test_self_attention_to_pure_torch": "compares with a module of torch.nn",
    "test_rf_base.py::test_module_output_keep_dtype": "is of torch.autocast",
    "test_rf_decoder_transformer.py::test_transformer_rel_pos_att": "makes its inputs by returnn.torch.data",
    "test_rf_encoder_conformer.py::test_e_branchformer_meta_dev_num_params": "makes a module of torch.nn",
}
"""Tests of PyTorch itself, which no other backend can run. They do not count."""
