import type { VNode } from "preact";
import type { Host } from "../shared/host.ts";
import { Delta, Diff, useDiff } from "./diff.tsx";
import { FileList, FromTo, Picture } from "./files.tsx";
import type { Card, ReviewContract } from "./messages.ts";

export const levelWords = { 1: "Small.", 2: "Medium.", 3: "Large." } as const;

interface CardChangesProps {
  readonly host: Host<ReviewContract>;
  readonly card: Card;
  /** The card changes too many files to show their lines. */
  readonly isListed: boolean;
  /** The lines of the only text are shown; `diff` has them. */
  readonly showsLines: boolean;
  readonly diff: ReturnType<typeof useDiff>;
  readonly isNear: boolean;
  readonly heading: string | undefined;
  readonly leftFiles: ReadonlySet<number>;
  readonly leftParts: Readonly<Record<number, ReadonlySet<number>>>;
  readonly onFile: (effect: number, isTaken: boolean) => void;
  readonly onPart: (effect: number, hunk: number, isTaken: boolean) => void;
  readonly onShow: (effect?: number) => void;
  readonly tabIndex: number;
}

/** Shows what a card changes: why, how much, and its pictures, moves, files or lines. */
export function CardChanges({
  host,
  card,
  isListed,
  showsLines,
  diff,
  isNear,
  heading,
  leftFiles,
  leftParts,
  onFile,
  onPart,
  onShow,
  tabIndex,
}: CardChangesProps): VNode {
  const isWaiting = card.section === "waiting";
  const texts = card.files.filter(({ hasText }) => hasText);
  const [first] = texts;
  const moves = card.files.filter(({ sign }) => sign === "move").slice(0, isListed ? 0 : 3);
  const pictures = card.files.filter(({ isPicture, sign }) => isPicture && sign !== "move");
  const hunks = diff === undefined || "failure" in diff ? 0 : diff.hunks.length;
  return (
    <>
      {card.reason !== "" && <p class="reason">{card.reason}</p>}
      {card.requestedBy !== undefined && <p class="note">{card.requestedBy}</p>}
      {card.error !== undefined && card.section !== "outdated" && <p class="note bad-text">{card.error}</p>}
      {pictures.map((file) => (
        <Picture key={file.effect} host={host} card={card} file={file} isNear={isNear} />
      ))}
      {moves.map((file) => (
        <div key={file.effect} class="pictures">
          {file.isPicture && <Picture host={host} card={card} file={file} isNear={isNear} />}
          <FromTo file={file} />
        </div>
      ))}
      <p class="impact">
        <span class="meter" data-level={card.level} aria-hidden="true">
          <i />
          <i />
          <i />
        </span>
        <span>
          <strong>{levelWords[card.level]}</strong> {card.impact}
        </span>
      </p>
      {isListed ? (
        <FileList
          host={host}
          card={card}
          isNear={isNear}
          leftOut={leftFiles}
          onChoose={isWaiting ? onFile : undefined}
          onShow={onShow}
          tabIndex={tabIndex}
        />
      ) : texts.length > 1 ? (
        texts.map((file) => (
          <OwnDiff
            key={file.effect}
            host={host}
            card={card}
            effect={file.effect}
            name={file.path}
            isNear={isNear}
            heading={heading}
            tabIndex={tabIndex}
          />
        ))
      ) : showsLines ? (
        <Diff
          name={card.name}
          diff={diff}
          heading={heading}
          leftOut={(first && leftParts[first.effect]) ?? noParts}
          onPart={
            isWaiting && hunks > 1 && first !== undefined
              ? (hunk, isTaken) => onPart(first.effect, hunk, isTaken)
              : undefined
          }
          tabIndex={tabIndex}
        />
      ) : null}
    </>
  );
}

const noParts: ReadonlySet<number> = new Set();

interface OwnDiffProps {
  readonly host: Host<ReviewContract>;
  readonly card: Card;
  readonly effect: number;
  readonly name: string;
  readonly isNear: boolean;
  readonly heading: string | undefined;
  readonly tabIndex: number;
}

/** One of several texts of a card, under its own name. */
function OwnDiff({ host, card, effect, name, isNear, heading, tabIndex }: OwnDiffProps): VNode {
  const diff = useDiff(host, card, effect, isNear);
  return (
    <div class="own-diff">
      <p class="small">
        <bdi>{name}</bdi> <Delta diff={diff} />
      </p>
      <Diff name={name} diff={diff} heading={heading} leftOut={noParts} tabIndex={tabIndex} />
    </div>
  );
}
