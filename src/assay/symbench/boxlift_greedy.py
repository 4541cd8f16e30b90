"""The greedy plan that decides how many steps a BoxLift answer may take."""

Plan = list[list[tuple[int, list[int]]]]


def greedy_plan(boxes: list[int], lifters: list[int]) -> Plan:
    """Return steps of (weight, lifter indices): heaviest box first, free lifters from the front.

    In each step the boxes are scanned in descending order; while the free lifters together can carry a box, free
    lifters are taken from the front until they can.

    Raises
    ------
    ValueError
        If all lifters together cannot carry the heaviest box.
    """
    remaining = sorted(boxes, reverse=True)
    if remaining and remaining[0] > sum(lifters):
        raise ValueError(f"a box of {remaining[0]} is too heavy for all lifters together ({sum(lifters)})")
    plan: Plan = []
    while remaining:
        free = list(range(len(lifters)))
        step: list[tuple[int, list[int]]] = []
        left: list[int] = []
        for weight in remaining:
            if sum(lifters[index] for index in free) < weight:
                left.append(weight)
                continue
            taken: list[int] = []
            while sum(lifters[index] for index in taken) < weight:
                taken.append(free.pop(0))
            step.append((weight, taken))
        plan.append(step)
        remaining = left
    return plan
