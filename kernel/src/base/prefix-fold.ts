/** A fold over lists, and how its state is copied before the rest of a list changes it. */
interface FoldForm<Item extends object, State> {
  begin(): State;
  /** Returns the state after the item; it may be the same object. */
  take(state: State, item: Item): State;
  /** Returns a state that later items do not change. */
  copy(state: State): State;
  /** False for an item that is too large to be held until the next list. */
  holds?(item: Item): boolean;
}

interface Folded<Item extends object, State> {
  list: readonly Item[];
  /** The number of items that the last two lists had in common; `state` is what these come to. */
  common: number;
  state: State;
}

/**
 * Folds lists of which each begins with the items of the one before, as the requests of a conversation do: only what is new is
 * taken, at most twice. Items are compared by identity, so they must not change.
 */
export class PrefixFold<Item extends object, State> {
  readonly #form: FoldForm<Item, State>;
  readonly #byFirst = new WeakMap<Item, Folded<Item, State>>();

  constructor(form: FoldForm<Item, State>) {
    this.#form = form;
  }

  /** Returns what the items of the list come to, one after the other. */
  over(list: readonly Item[]): State {
    const { begin, take, copy, holds = () => true } = this.#form;
    const [first] = list;
    if (first === undefined) return begin();
    const known = this.#byFirst.get(first) ?? { list: [], common: 0, state: begin() };
    let common = 0;
    const most = Math.min(list.length, known.list.length);
    while (common < most && list[common] === known.list[common]) common++;
    let { state } = known;
    let at = known.common;
    if (common < at) [state, at] = [begin(), 0];
    // It is of use again only if nothing throws while it is changed.
    this.#byFirst.delete(first);
    for (const item of list.slice(at, common)) state = take(state, item);
    let whole = copy(state);
    for (const item of list.slice(common)) whole = take(whole, item);
    let end = common;
    for (; end < list.length; end++) {
      const item = list[end];
      if (item !== undefined && !holds(item)) break;
    }
    this.#byFirst.set(first, { list: end === list.length ? list : list.slice(0, end), common, state });
    return whole;
  }
}
