"""Arrays: numpy, loaded when something of it is first used, so that what needs none of it begins at once."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            found = self.__dict__[name] = getattr(numpy, name)
            return found

    np, NDArray = _Numpy(), Any

__all__ = ["NDArray", "np"]
