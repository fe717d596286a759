import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Host } from "../shared/host.ts";
import { failureOf } from "../shared/hooks.ts";
import { count, counted } from "../shared/format.ts";
import { Icon } from "./icon.tsx";
import type { Card, DiffLine, FileDiff, ReviewContract } from "./messages.ts";

/** The answer to a request for a diff; undefined while there is none for this version. */
type AskedDiff = FileDiff | { readonly failure: string } | undefined;

/** Requests one file's diff once it is wanted, and again when the action has changed. */
export function useDiff(
  host: Host<ReviewContract>,
  card: Card,
  effect: number | undefined,
  isWanted: boolean,
): AskedDiff {
  const [asked, setAsked] = useState<{ readonly key: string; readonly diff: AskedDiff }>();
  const key = `${card.id} ${card.digest} ${card.outcome ?? ""} ${effect}`;
  useEffect(() => {
    if (!isWanted || effect === undefined) return;
    let isCurrent = true;
    const take = (diff: AskedDiff): void => {
      if (isCurrent) setAsked({ key, diff });
    };
    host.ask("diff", { id: card.id, effect }).then(
      // The diff of another version of the proposal is not shown as the diff of this one.
      (diff) => take(diff.digest === card.digest ? diff : undefined),
      (error: unknown) => take({ failure: failureOf(error).message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [host, key, isWanted]);
  return asked?.key === key ? asked.diff : undefined;
}

interface DiffProps {
  readonly name: string;
  readonly diff: AskedDiff;
  /** "Applied 10:58", shown above a frozen diff. */
  readonly heading?: string | undefined;
  readonly leftOut: ReadonlySet<number>;
  /** Absent if parts cannot be chosen. */
  readonly onPart?: ((hunk: number, isTaken: boolean) => void) | undefined;
  readonly tabIndex: number;
}

export function Diff({ name, diff, heading, leftOut, onPart, tabIndex }: DiffProps): VNode {
  const title = heading === undefined ? undefined : <p class="diff-heading">{heading}</p>;
  if (diff === undefined) return <p class="muted small diff-wait">Loading the changes…</p>;
  if ("failure" in diff) return <p class="small bad-text">The changes cannot be shown: {diff.failure}</p>;
  if (diff.note !== undefined || diff.hunks.length === 0)
    return <p class="muted small">{diff.note ?? "No line is changed."}</p>;
  return (
    <div class="diff" role="group" aria-label={`Change in ${name}`}>
      {title}
      {diff.hunks.map((hunk, index) => {
        const isOut = leftOut.has(index);
        return (
          <div key={index} class={isOut ? "part left-out" : "part"} data-hunk={index}>
            <div class="hunk">
              <span class="grow">
                {hunk.title}
                {isOut && <strong>, left out</strong>}
              </span>
              {onPart !== undefined && (
                <button
                  type="button"
                  class="button plain small"
                  tabIndex={tabIndex}
                  aria-pressed={isOut}
                  onClick={() => onPart(index, isOut)}
                >
                  <Icon name={isOut ? "check" : "close"} />
                  {isOut ? "Take this part" : "Leave this part out"}
                </button>
              )}
            </div>
            <div class="lines">
              {hunk.lines.map((line, at) => (
                <Line key={at} line={line} />
              ))}
            </div>
          </div>
        );
      })}
      {diff.more > 0 && (
        <p class="muted small more">{counted(diff.more, "more line")}: “Show” has all of them.</p>
      )}
    </div>
  );
}

const signs = { "+": "add", "-": "del", " ": "" } as const;
const spoken = { "+": "added", "-": "removed", " ": "" } as const;

function Line({ line: { sign, number, parts } }: { readonly line: DiffLine }): VNode {
  return (
    <div class={`line ${signs[sign]}`}>
      <b aria-hidden="true">{count(number)}</b>
      <i aria-hidden="true">{sign === "-" ? "−" : sign}</i>
      <span>
        {sign !== " " && <span class="sr">{spoken[sign]}: </span>}
        {parts.map(({ text, changed }, index) =>
          !changed ? text : sign === "-" ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>,
        )}
      </span>
    </div>
  );
}

/** `+4 −1` */
export function Delta({ diff }: { readonly diff: AskedDiff }): VNode | null {
  if (diff === undefined || "failure" in diff || diff.added + diff.removed === 0) return null;
  return (
    <span
      class="delta"
      role="img"
      aria-label={`${counted(diff.added, "line")} added, ${count(diff.removed)} removed`}
    >
      {diff.added > 0 && <span class="plus">+{count(diff.added)}</span>}
      {diff.removed > 0 && <span class="minus">−{count(diff.removed)}</span>}
    </span>
  );
}
