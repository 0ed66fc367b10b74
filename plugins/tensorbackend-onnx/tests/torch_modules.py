"""Ten kinds of PyTorch modules in few lines each, with random weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


class Residual(nn.Module):
    def __init__(self, width: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip
        self.shortcut = nn.Conv2d(width, width, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3), nn.MaxPool2d(3, 2, 1), Residual(8), Residual(8, 2), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(8, 5),
    )  # fmt: skip


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Tensor) -> Tensor:
        hidden = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        result: Tensor = self.encoder(hidden)
        return result


class Gpt(nn.Module):
    """Causal, with weights that the embedding and the head share."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Parameter(torch.randn(6, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        hidden = self.layer(self.words(ids) + self.places, src_mask=mask, is_causal=True)
        logits: Tensor = self.head(self.norm(hidden))
        return logits


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle = nn.Conv2d(2, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
        self.up, self.out = nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(12, 2, 3, padding=1)
        self.norm = nn.GroupNorm(2, 6)

    def forward(self, x: Tensor) -> Tensor:
        high = functional.silu(self.norm(self.down(x)))
        low = self.up(functional.silu(self.middle(functional.avg_pool2d(high, 2))))
        result: Tensor = self.out(torch.cat([high, low], dim=1))
        return result


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 3)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.head(self.lstm(x)[0][:, -1])
        return result


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.token = nn.Conv2d(3, 8, 4, 4), nn.Parameter(torch.randn(1, 1, 8))
        self.places = nn.Parameter(torch.randn(1, 5, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True, norm_first=True)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.patches(x).flatten(2).transpose(1, 2)
        hidden = torch.cat([self.token.expand(x.shape[0], -1, -1), parts], dim=1) + self.places
        result: Tensor = self.head(self.layer(hidden)[:, 0])
        return result


class Conformer(nn.Module):
    """Half a feed-forward step, attention, and a gated depthwise convolution over time."""

    def __init__(self) -> None:
        super().__init__()
        self.feed = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.gate, self.depth = nn.Conv1d(8, 16, 1), nn.Conv1d(8, 8, 5, padding=2, groups=8)
        self.norm, self.point = nn.BatchNorm1d(8), nn.Conv1d(8, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.feed(x)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        y = functional.glu(self.gate(x.transpose(1, 2)), dim=1)
        result: Tensor = x + self.point(functional.silu(self.norm(self.depth(y)))).transpose(1, 2)
        return result


class Detector(nn.Module):
    """Two scales of features, of which each has scores and boxes, in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.next = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.scores, self.boxes = nn.Conv2d(8, 2, 1), nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        fine = functional.hardswish(self.stem(x))
        coarse = functional.leaky_relu(self.next(fine), 0.1)
        fine = fine + functional.interpolate(coarse, scale_factor=2.0, mode="nearest")
        both = [[head(scale).flatten(2) for scale in (fine, coarse)] for head in (self.scores, self.boxes)]
        return {"scores": torch.cat(both[0], 2).sigmoid(), "boxes": torch.cat(both[1], 2).exp()}


def autoencoder() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2, 1), nn.ELU(), nn.Conv2d(4, 8, 3, 2, 1), nn.Tanh(),
        nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1), nn.PReLU(),
        nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Sigmoid(),
    )  # fmt: skip


class GroupedHeads(nn.Module):
    """Attention whose four heads of queries share two of keys and values, with an RMS norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.query = nn.RMSNorm(16), nn.Linear(16, 16, bias=False)
        self.key, self.value, self.out = nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        query, key, value = (
            each(y).unflatten(-1, (-1, 4)).transpose(1, 2) for each in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        result: Tensor = x + self.out(mixed.transpose(1, 2).flatten(2))
        return result


def _ids() -> Tensor:
    return torch.randint(0, 11, (2, 6))


MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "ResNet": (resnet, lambda: torch.randn(2, 3, 16, 16)),
    "BERT": (Bert, _ids),
    "GPT": (Gpt, _ids),
    "U-Net": (UNet, lambda: torch.randn(2, 2, 8, 8)),
    "LSTM": (Recurrent, lambda: torch.randn(2, 5, 4)),
    "ViT": (ViT, lambda: torch.randn(2, 3, 8, 8)),
    "Conformer": (Conformer, lambda: torch.randn(2, 7, 8)),
    "detector": (Detector, lambda: torch.randn(2, 3, 8, 8)),
    "autoencoder": (autoencoder, lambda: torch.randn(2, 1, 8, 8)),
    "grouped heads": (GroupedHeads, lambda: torch.randn(2, 5, 16)),
}
