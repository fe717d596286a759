import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { visibleText } from "../../../../kernel/src/base/visible-text.ts";
import { useAsked } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import type { Card, ConsentContract, Program } from "./messages.ts";
import { Said } from "./said.tsx";

/** The number of lines of a difference that are drawn at once; a button adds more. */
const linesAtOnce = 400;

const changeWords = { added: "new", removed: "gone", changed: "changed", unchanged: "as before" } as const;

function lines(amount: number): string {
  return `${amount} ${amount === 1 ? "line" : "lines"}`;
}

interface ProgramProps {
  readonly host: Host<ConsentContract>;
  readonly card: Card;
}

/** Shows how an extension's program differs from the accepted one, or the program itself if none was accepted. */
export function ProgramChanges({ host, card: { extension, program } }: ProgramProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const { change, diff } = program;
  return (
    <section class="program">
      {change === "changed" && (
        <p>
          <strong>Program:</strong>{" "}
          {diff === undefined
            ? "changed. The accepted one was not kept, so all of the new one is shown."
            : `${diff.files} ${diff.files === 1 ? "file" : "files"} changed, ${lines(diff.added)} added, ${lines(diff.removed)} removed.`}
        </p>
      )}
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen
          ? "Hide the program"
          : change === "changed"
            ? "Show what changed in the program"
            : "Show the program"}
      </button>
      {isOpen && <Files host={host} extension={extension} />}
    </section>
  );
}

function Files({
  host,
  extension,
}: {
  readonly host: ProgramProps["host"];
  readonly extension: string;
}): VNode {
  const { asked } = useAsked(host, "program", { extension });
  if (asked.kind === "loading") return <p class="quiet">Comparing…</p>;
  if (asked.kind === "failed") return <p class="problem">{asked.message}</p>;
  const { reason, files } = asked.value;
  const differing = files.filter(({ change }) => change !== "unchanged");
  const shown = differing.length > 0 ? differing : files;
  return (
    <div>
      {reason !== undefined && <p class="quiet">{visibleText(reason)}</p>}
      {shown.map((file) => (
        <FileChange key={file.path} host={host} extension={extension} file={file} />
      ))}
      {shown.length < files.length && (
        <p class="quiet small">{files.length - shown.length} other files are as they were.</p>
      )}
    </div>
  );
}

interface FileProps {
  readonly host: ProgramProps["host"];
  readonly extension: string;
  readonly file: Program["files"][number];
}

function FileChange({ host, extension, file }: FileProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const { path, change, added, removed } = file;
  return (
    <div class="changed-file">
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Said text={visibleText(path)} />
      </button>{" "}
      <span class="quiet small">
        {changeWords[change]}
        {added > 0 && `, +${added}`}
        {removed > 0 && `, −${removed}`}
      </span>
      {isOpen && <Diff host={host} extension={extension} path={path} />}
    </div>
  );
}

interface DiffProps {
  readonly host: ProgramProps["host"];
  readonly extension: string;
  readonly path: string;
}

function Diff({ host, extension, path }: DiffProps): VNode {
  const { asked } = useAsked(host, "program", { extension, path });
  const [shown, setShown] = useState(linesAtOnce);
  if (asked.kind === "loading") return <p class="quiet">Comparing…</p>;
  if (asked.kind === "failed") return <p class="problem">{asked.message}</p>;
  const diff = asked.value.files.find((file) => file.path === path)?.diff;
  if (diff === undefined)
    return <p class="quiet">It is too long to be kept and compared, is no text, or has changed just now.</p>;
  const all = diff.split("\n").slice(2);
  if (all.at(-1) === "") all.pop();
  if (all.length === 0) return <p class="quiet">It is as it was.</p>;
  return (
    <>
      <div class="diff" role="region" aria-label={`Changes in ${visibleText(path)}`} tabIndex={0}>
        {all.slice(0, shown).map((text, index) => (
          <DiffLine key={index} text={text} />
        ))}
      </div>
      {shown < all.length && (
        <button type="button" class="secondary" onClick={() => setShown(shown + linesAtOnce)}>
          Show the next {Math.min(linesAtOnce, all.length - shown)} of {all.length - shown} lines
        </button>
      )}
    </>
  );
}

function DiffLine({ text }: { readonly text: string }): VNode {
  if (text.startsWith("@@")) return <div class="hunk">{text.replace(/^(@@[^@]*@@).*$/s, "$1")}</div>;
  const sign = text.slice(0, 1);
  const kind = sign === "+" ? "added" : sign === "-" ? "removed" : "same";
  return (
    <div class={kind}>
      <span class="sign">{sign === "-" ? "−" : sign}</span>
      <Said text={visibleText(text.slice(1))} />
    </div>
  );
}
