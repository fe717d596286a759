import { UsageError } from "./command.ts";
import { oneLine } from "./render/foreign.ts";
import { truncate } from "./render/width.ts";

/** How the items of a list are named. */
interface Naming<Item> {
  /** Such as "change", "conversation". */
  readonly noun: string;
  readonly nouns: string;
  /** The command that lists them. */
  readonly listing: string;
  /** What `title` is called, if not a title. */
  readonly titled?: string;
  id(item: Item): string;
  title(item: Item): string;
  /** A further name, which has to be written whole; `aliased`: what it is called, such as "a kind". */
  alias?(item: Item): string | undefined;
  readonly aliased?: string;
  /** How the list shows an id; default the end of an id that is made, and an agent's whole one. */
  shownId?(item: Item): string;
  /** There are so few of them that an error lists them. */
  readonly isShort?: boolean;
}

/** From this length on, the beginning of an id names it. */
const shortestStart = 4;
const maxCandidates = 5;
const maxAgents = 20;
const maxTitle = 40;

/**
 * Finds the one item that a person named: by its id or alias, by the end or the start of the id, or by its title or the start of
 * the title. Case is ignored. Throws UsageError, with the candidates, if no item or more than one fits.
 */
export function oneNamed<Item>(items: readonly Item[], given: string, naming: Naming<Item>): Item {
  const { noun, nouns, listing, titled = "title", id, title, alias, aliased } = naming;
  const word = oneLine(given);
  const wanted = word.toLowerCase();
  if (wanted === "") throw new UsageError(`The name is empty. "${listing}" lists the ${nouns}.`);
  const titleOf = (item: Item): string => oneLine(title(item)).toLowerCase();
  const ways: readonly ((item: Item) => boolean)[] = [
    (item) => id(item).toLowerCase() === wanted,
    (item) => alias !== undefined && oneLine(alias(item) ?? "").toLowerCase() === wanted,
    (item) => id(item).toLowerCase().endsWith(wanted),
    (item) => wanted.length >= shortestStart && id(item).toLowerCase().startsWith(wanted),
    (item) => titleOf(item) === wanted,
    (item) => titleOf(item).startsWith(wanted),
  ];
  for (const matches of ways) {
    const found = items.filter(matches);
    const [only, other] = found;
    if (only !== undefined && other === undefined) return only;
    if (only !== undefined)
      throw new UsageError(
        `"${word}" can mean ${found.length} ${nouns}: ${candidates(found, naming)}. Write more of the id or the ${titled}.`,
      );
  }
  const called = aliased === undefined ? "" : `, ${aliased} that is called so`;
  const those =
    naming.isShort !== true
      ? `"${listing}" lists them.`
      : items.length === 0
        ? "Nothing runs now."
        : `There ${items.length === 1 ? "is" : "are"}: ${candidates(items, naming)}.`;
  throw new UsageError(
    `No ${noun} has an id that ends in "${word}"${called}, or a ${titled} that begins so. ${those}`,
  );
}

/** True for an id that needs no search. */
export function isWholeId(given: string): boolean {
  return /^[0-9a-f-]{36}$/i.test(given);
}

/** Returns the error for more words than one name. */
export function onlyOne(more: readonly string[]): string {
  return `Only one id or title is allowed. Remove ${oneLine(more.join(" "))}, or put a title in quotation marks.`;
}

function candidates<Item>(found: readonly Item[], naming: Naming<Item>): string {
  const { id, title, shownId = (item: Item) => shortId(id(item)) } = naming;
  const shown = found
    .slice(0, maxCandidates)
    .map((item) => `${shownId(item)} "${truncate(oneLine(title(item)), maxTitle)}"`);
  const more = found.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** Returns the end of an id: its start is the time, which items of the same period share. An agent's id is shown whole. */
function shortId(id: string): string {
  return isWholeId(id) ? id.slice(-8) : oneLine(id);
}

/** What is known of an agent by its name. */
interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

/** Returns the one agent that a person means: by its id, the last words of it, or its name. UsageError otherwise. */
export function agentNamed<Agent extends NamedAgent>(agents: readonly Agent[], given: string): Agent {
  const [only, other] = agents.filter(({ id }) => id === given || id.endsWith(`.${given}`));
  if (only !== undefined && (other === undefined || only.id === given)) return only;
  const isKnown = agents.some(({ id, name }) =>
    [id, oneLine(name)].some((word) => word.toLowerCase().includes(given.trim().toLowerCase())),
  );
  if (!isKnown) {
    const shown = agents.slice(0, maxAgents).map(({ id }) => oneLine(id));
    const which = shown.length === 0 ? "There is none here." : `Use one of ${shown.join(", ")}.`;
    throw new UsageError(`No agent is called "${oneLine(given)}". ${which}`);
  }
  return oneNamed(agents, given, {
    noun: "agent",
    nouns: "agents",
    listing: "lares agents",
    titled: "name",
    id: ({ id }) => id,
    title: ({ name }) => name,
  });
}

/** As `agentNamed`, for lists of what agents did: one that is not in the folder any more is named by its whole id. */
export async function agentIdOf(
  kernel: { agents(): Promise<readonly NamedAgent[]> },
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined || given.includes(".")) return given;
  return agentNamed(await kernel.agents(), given).id;
}
