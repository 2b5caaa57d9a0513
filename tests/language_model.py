"""A small language model as a made report: prefill, decode, sampling."""

from tests.profiles import Program, Tensor

LAYERS, USERS, PROMPT, HEADS, WIDTH, HIDDEN, VOCABULARY = 3, 32, 128, 8, 64, 512, 32_768


class LanguageModel(Program):
    """A language model of three layers, pass by pass."""

    def __init__(self) -> None:
        super().__init__("wormhole_b0")
        self.cache = [self.tensor([USERS, HEADS, 1024, WIDTH], "BFLOAT8_B") for _ in range(2 * LAYERS)]

    def prefill(self, *, causal: str = "true", embedded: bool = True, attention_ns: int = 50_000):
        x = self.tensor([1, 1, PROMPT, HIDDEN])
        if embedded:
            x = self.op("EmbeddingsDeviceOperation", [self.weight([1, 1, VOCABULARY, HIDDEN])], shape=x.shape)
        for _ in range(LAYERS):
            q = self.op("NlpCreateHeadsDeviceOperation", [x], shape=[1, HEADS, PROMPT, WIDTH])
            y = self.op(
                "SDPAOperation", [q, q, q], shape=x.shape, attributes={"is_causal": causal}, kernel_ns=attention_ns
            )
            x = self.op("MatmulDeviceOperation", [y, self.weight([1, 1, HIDDEN, HIDDEN])], shape=x.shape)
        return self

    def decode(self, *, gap_ns: int = 1_500, head_ns: int = 200_000, sampled: bool = True):
        x = self.op(
            "EmbeddingsDeviceOperation",
            [self.weight([1, 1, VOCABULARY, HIDDEN])],
            shape=[1, 1, USERS, HIDDEN],
            gap_ns=gap_ns,
        )
        for layer in range(LAYERS):
            q = self.op("NLPCreateHeadsDecodeDeviceOperation", [x], shape=[1, USERS, HEADS, WIDTH])
            y = self.op("SdpaDecodeDeviceOperation", [q, *self.cache[2 * layer : 2 * layer + 2]], shape=x.shape)
            x = self.op("MatmulDeviceOperation", [y, self.weight([1, 1, HIDDEN, HIDDEN])], shape=x.shape)
        x = self.op(
            "MatmulDeviceOperation",
            [x, self.weight([1, 1, HIDDEN, VOCABULARY])],
            shape=[1, 1, 32, VOCABULARY],
            kernel_ns=head_ns,
        )
        if sampled:
            x = self.op("UntilizeDeviceOperation", [x], layout="ROW_MAJOR")
            self.op("ArgMaxDeviceOperation", [x], shape=[1, 1, 1, 32])
        return self


def attend_in_single_ops(program: Program, queries: int, keys: int) -> Tensor:
    """Attention as a norm, a transposed copy of the keys, a matmul, a softmax and a matmul with the values."""
    x = program.op("LayerNormDeviceOperation", [program.tensor([1, HEADS, queries, WIDTH])])
    k = program.op(
        "TransposeDeviceOperation", [program.tensor([1, HEADS, keys, WIDTH])], shape=[1, HEADS, WIDTH, keys]
    )
    scores = program.op("MatmulDeviceOperation", [x, k], shape=[1, HEADS, queries, keys], fidelity="HiFi2")
    weights = program.op("SoftmaxDeviceOperation", [scores])
    v = program.tensor([1, HEADS, keys, WIDTH])
    return program.op("MatmulDeviceOperation", [weights, v], shape=[1, HEADS, queries, WIDTH], fidelity="HiFi2")
