/**
 * The parts and folders that a person ticks when asked for consent. The page and the terminal draw the question; the
 * rules for ticking are defined only here.
 */

interface ChoosablePart {
  readonly id: string;
  readonly granted: boolean;
}
interface ChoosableFolder {
  readonly path: string;
  readonly requested: boolean;
  readonly granted: boolean;
}
export interface ChoosableCard {
  readonly extension: string;
  readonly granted: boolean;
  readonly parts: readonly ChoosablePart[];
  readonly folders: readonly ChoosableFolder[];
}
interface ChoosableQuestion {
  readonly extensions: readonly ChoosableCard[];
  readonly workspace: readonly ChoosablePart[];
}

export interface CardChoice {
  readonly isOn: boolean;
  readonly parts: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}
export interface Choice {
  readonly extensions: ReadonlyMap<string, CardChoice>;
  readonly workspace: ReadonlySet<string>;
}

const off: CardChoice = { isOn: false, parts: new Set(), folders: new Set() };

/** Returns the choice that was granted last. Parts that are new start unticked. */
export function grantedChoice({ extensions, workspace }: ChoosableQuestion): Choice {
  return {
    extensions: new Map(
      extensions.map((card) => [
        card.extension,
        card.granted
          ? {
              isOn: true,
              parts: new Set(card.parts.filter(({ granted }) => granted).map(({ id }) => id)),
              folders: outermost(card.folders.filter(({ granted }) => granted).map(({ path }) => path)),
            }
          : off,
      ]),
    ),
    workspace: new Set(workspace.filter(({ granted }) => granted).map(({ id }) => id)),
  };
}

/** Returns the choice that grants everything that is requested. */
export function wholeChoice({ extensions, workspace }: ChoosableQuestion): Choice {
  return {
    extensions: new Map(extensions.map((card) => [card.extension, wholeCard(card)])),
    workspace: new Set(workspace.map(({ id }) => id)),
  };
}

/** Returns the part of `choice` that the question still offers: its cards, parts and folders may have changed. */
export function keptChoice(choice: Choice, question: ChoosableQuestion): Choice {
  return {
    extensions: new Map(
      question.extensions.map((card) => {
        const before = choiceFor(choice, card);
        const requested = card.folders.filter((folder) => folder.requested);
        return [
          card.extension,
          {
            isOn: before.isOn,
            parts: new Set(card.parts.map(({ id }) => id).filter((id) => before.parts.has(id))),
            folders: new Set(
              [...before.folders].filter((path) => requested.some((folder) => isWithin(folder.path, path))),
            ),
          },
        ];
      }),
    ),
    workspace: new Set(question.workspace.map(({ id }) => id).filter((id) => choice.workspace.has(id))),
  };
}

export function choiceFor(
  { extensions }: Choice,
  { extension }: Pick<ChoosableCard, "extension">,
): CardChoice {
  return extensions.get(extension) ?? off;
}

/** Returns "all" if everything that the card requests is ticked. */
export function cardState(choice: Choice, card: ChoosableCard): "all" | "some" | "none" {
  const mine = choiceFor(choice, card);
  if (!mine.isOn) return "none";
  const isAll =
    card.parts.every(({ id }) => mine.parts.has(id)) &&
    card.folders.every(({ path, requested }) => !requested || isTicked(mine, path));
  return isAll ? "all" : "some";
}

/** True if the folder, or a folder that contains it, is ticked. */
export function isTicked({ folders }: CardChoice, path: string): boolean {
  return [...folders].some((folder) => isWithin(folder, path));
}

/** Ticks the whole card, or unticks it if all of it was ticked. */
export function toggleCard(choice: Choice, card: ChoosableCard): Choice {
  return withCard(choice, card, cardState(choice, card) === "all" ? off : wholeCard(card));
}

/**
 * Ticks or unticks one part. The first ticked part of a card also ticks the folders that the card requests: without a
 * folder the part could do nothing.
 */
export function togglePart(choice: Choice, card: ChoosableCard, id: string): Choice {
  const mine = choiceFor(choice, card);
  const parts = toggled(mine.parts, id);
  const isFirst = parts.size === 1 && mine.parts.size === 0 && mine.folders.size === 0;
  return withCard(choice, card, settled(parts, isFirst ? wholeCard(card).folders : mine.folders));
}

/** Ticks or unticks one folder. Ticking a folder ticks the folders inside it. */
export function toggleFolder(choice: Choice, card: ChoosableCard, path: string): Choice {
  const mine = choiceFor(choice, card);
  return withCard(choice, card, settled(mine.parts, outermost([...toggled(mine.folders, path)])));
}

export function toggleWorkspace(choice: Choice, id: string): Choice {
  return { ...choice, workspace: toggled(choice.workspace, id) };
}

/** Returns the choice in the form of the protocol's answer. */
export function grantsOf({ extensions, workspace }: Choice): {
  extensions: { extension: string; parts: string[]; folders: string[] }[];
  workspace: string[];
} {
  return {
    extensions: [...extensions]
      .filter(([, { isOn }]) => isOn)
      .map(([extension, { parts, folders }]) => ({ extension, parts: [...parts], folders: [...folders] })),
    workspace: [...workspace],
  };
}

/** True if no extension and no part is ticked. */
export function isNothing({ extensions, workspace }: Choice): boolean {
  return workspace.size === 0 && [...extensions.values()].every(({ isOn }) => !isOn);
}

interface ChoiceCount {
  readonly extensions: number;
  readonly parts: number;
  /** True if everything that is requested is ticked. */
  readonly isAll: boolean;
}

export function countOf(choice: Choice, { extensions, workspace }: ChoosableQuestion): ChoiceCount {
  const mine = extensions.map((card) => choiceFor(choice, card)).filter(({ isOn }) => isOn);
  return {
    extensions: mine.length,
    parts: mine.reduce((sum, { parts }) => sum + parts.size, choice.workspace.size),
    isAll:
      extensions.every((card) => cardState(choice, card) === "all") &&
      workspace.every(({ id }) => choice.workspace.has(id)),
  };
}

function wholeCard({ parts, folders }: ChoosableCard): CardChoice {
  return {
    isOn: true,
    parts: new Set(parts.map(({ id }) => id)),
    folders: outermost(folders.filter(({ requested }) => requested).map(({ path }) => path)),
  };
}

const settled = (parts: ReadonlySet<string>, folders: ReadonlySet<string>): CardChoice => ({
  isOn: parts.size > 0 || folders.size > 0,
  parts,
  folders,
});

function withCard(choice: Choice, { extension }: ChoosableCard, card: CardChoice): Choice {
  return { ...choice, extensions: new Map(choice.extensions).set(extension, card) };
}

function toggled(items: ReadonlySet<string>, item: string): Set<string> {
  const next = new Set(items);
  if (!next.delete(item)) next.add(item);
  return next;
}

function outermost(paths: readonly string[]): Set<string> {
  return new Set(paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path))));
}

function isWithin(folder: string, path: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}
