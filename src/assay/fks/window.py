"""The layer window: the upper blocks of a model, whose states are compared."""


def layer_window(n_layers: int, percent: int = 40) -> tuple[int, ...]:
    """Return the layers l of L with l / (L - 1) >= percent / 100, compared in integers; (0,) for one layer.

    Examples
    --------
    >>> layer_window(16)
    (6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    >>> layer_window(1)
    (0,)
    """
    if n_layers < 1 or not 0 <= percent <= 100:
        raise ValueError(f"no window of {percent} percent in {n_layers} layers")
    return tuple(layer for layer in range(n_layers) if 100 * layer >= percent * (n_layers - 1))
