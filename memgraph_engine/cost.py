"""What calls of chat models cost, and how much they may cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one or several calls of chat models cost; costs add up.

    `calls` counts requests, failed ones too. `money` is in US dollars, None if the price of a call is not known:
    a sum with an unknown part is unknown. `seconds` were spent waiting for models, summed over calls that ran at
    the same time.

    >>> Cost(1, 900, 100, 0.002) + Cost(1, 50, 10, 0.001)
    Cost(calls=2, input_tokens=950, output_tokens=110, money=0.003, seconds=0.0)
    >>> (Cost(1, money=0.002) + Cost(1, money=None)).money is None
    True
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        unknown = self.money is None or other.money is None
        return Cost(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if unknown else (self.money or 0.0) + (other.money or 0.0),
            self.seconds + other.seconds,
        )

    def share(self, parts: int) -> "Cost":
        """Return the share of one of several things asked about: tokens, money and time, but no call."""
        if parts <= 1:
            return self
        money = None if self.money is None else self.money / parts
        return Cost(0, self.input_tokens // parts, self.output_tokens // parts, money, self.seconds / parts)

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens


NOTHING = Cost()
_ROUNDING = 1e-9  # dollars by which a sum of floating-point prices may miss the decimal one


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that calls may cost together: requests, tokens, US dollars; None is no limit.

    >>> hour = Budget(calls=3, money=0.01)
    >>> hour.allows(spent=Cost(2, money=0.009), estimate=Cost(1, money=0.001))
    True
    >>> hour.allows(spent=Cost(2, money=0.009), estimate=Cost(1, money=0.002))
    False
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    def allows(self, spent: Cost, estimate: Cost) -> bool:
        """Tell before a call is made whether it still fits.

        A price that is not known fits no limit of money.
        """
        after = spent + estimate
        return (
            (self.calls is None or after.calls <= self.calls)
            and (self.tokens is None or after.tokens <= self.tokens)
            and (self.money is None or (after.money is not None and after.money <= self.money + _ROUNDING))
        )
