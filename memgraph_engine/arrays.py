"""numpy, imported where it is first used: it takes longer than all else that a command needs to say what it does."""

from typing import TYPE_CHECKING, Any

__all__ = ["NDArray", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    NDArray = "numpy.typing.NDArray"  # named in annotations alone, which nobody evaluates

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            found = self.__dict__[name] = getattr(numpy, name)
            return found

    np = _Numpy()
