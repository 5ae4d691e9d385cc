"""Words for made-up ads: what trades sell, how people search for it, and keywords of no trade."""

_GOODS = """
    aquariums, awnings, backpacks, balloons, barbecues, bathtubs, beds, bicycles, binoculars, blankets,
    boats, bookcases, boots, bracelets, bricks, briefcases, cabinets, cameras, candles, canoes, caravans,
    carpets, cellos, chainsaws, cheese, chimneys, clocks, coats, coffee machines, computers, contact lenses,
    curtains, desks, dishwashers, dog food, doors, drums, earrings, envelopes, fences, fireplaces,
    fishing rods, flower bulbs, fridges, garden sheds, gloves, golf clubs, greenhouses, guitars, hammocks,
    hats, headphones, hearing aids, heat pumps, helmets, honey, horse saddles, jeans, kayaks,
    kitchen knives, ladders, lamps, lawn mowers, loudspeakers, mattresses, microscopes, mirrors,
    motorcycles, mugs, office chairs, ovens, paint, pencils, perfume, pianos, picture frames, pillows,
    pottery, printers, prams, raincoats, roof tiles, rucksacks, running shoes, sailing boats,
    sewing machines, skis, sofas, solar panels, spectacles, stamps, suitcases, sunglasses, swimming pools,
    tea, telescopes, tents, tyres, umbrellas, violins, wedding dresses, wheelchairs, windows, wine, wool"""
_SEARCHES = """
    {}, buy {}, cheap {}, {} online, {} prices, {} shop, best {}, {} deals, discount {}, {} near me,
    {} reviews, {} sale, new {}, used {}, {} delivery, order {}, {} offers, {} catalogue, compare {},
    quality {}"""
_ANYTHING = """
    free delivery, special offers, gift ideas, best price, customer reviews, next day delivery, clearance,
    voucher code, christmas gifts, birthday presents, summer sale, free returns, pay later,
    price comparison, online shop, opening hours, made to order, second hand, family business,
    trade discount, wholesale, free catalogue, loyalty card, gift card, outlet store, bargains, local shops,
    free quote, home visit, showroom"""


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.replace("\n", " ").split(","))


GOODS = _phrases(_GOODS)
"""What trades sell, one of each."""

SEARCHES = _phrases(_SEARCHES)
"""How people search for it, the most frequent first."""

ANYTHING = _phrases(_ANYTHING)
"""Keywords that go with all trades."""


def goods_of(n_trades: int) -> list[str]:
    """Return what each trade sells; where there are more trades than words they get numbers.

    Examples
    --------
    >>> goods_of(2), goods_of(len(GOODS) + 1)[-1]
    (['aquariums', 'awnings'], 'aquariums 2')
    """
    numbers = [f" {1 + trade // len(GOODS)}" if trade >= len(GOODS) else "" for trade in range(n_trades)]
    return [GOODS[trade % len(GOODS)] + number for trade, number in enumerate(numbers)]
