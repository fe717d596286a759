import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { counted } from "../shared/format.ts";
import type { Host } from "../shared/host.ts";
import { Delta, useDiff } from "./diff.tsx";
import { Icon, type IconName } from "./icon.tsx";
import type { Card, CardFile, FileSign, ReviewContract } from "./messages.ts";

const icons: Readonly<Record<FileSign, IconName>> = {
  delete: "trash",
  move: "move",
  new: "file",
  edit: "edit",
  folder: "folder",
  note: "note",
};

interface ListProps {
  readonly host: Host<ReviewContract>;
  readonly card: Card;
  readonly isNear: boolean;
  readonly leftOut: ReadonlySet<number>;
  /** Absent if nothing can be chosen any more. */
  readonly onChoose: ((effect: number, isTaken: boolean) => void) | undefined;
  readonly onShow: (effect: number) => void;
  readonly tabIndex: number;
}

/** The files of one change: deletes and moves first, each with its whole path. */
export function FileList({ host, card, isNear, leftOut, onChoose, onShow, tabIndex }: ListProps): VNode {
  const [all, setAll] = useState<readonly CardFile[]>();
  const { id, digest } = card;
  useEffect(() => setAll(undefined), [digest]);
  const open = (): void => {
    // An error means that the action is gone, and its card will go, too.
    host.ask("files", { id, digest }).then(
      ({ files }) => setAll(files),
      () => undefined,
    );
  };
  const files = all ?? card.files;
  return (
    <ul class="files">
      {files.map((file) => (
        <FileRow
          key={file.effect}
          host={host}
          card={card}
          file={file}
          isNear={isNear && all === undefined}
          isTaken={!leftOut.has(file.effect) && !file.isLeftOut}
          onChoose={onChoose}
          onShow={onShow}
          tabIndex={tabIndex}
        />
      ))}
      {all === undefined && card.moreFiles > 0 && (
        <li class="more">
          <button type="button" class="button plain" tabIndex={tabIndex} onClick={open}>
            <Icon name="right" />
            {counted(card.moreFiles, "more change")}
          </button>
        </li>
      )}
    </ul>
  );
}

interface RowProps extends Omit<ListProps, "leftOut"> {
  readonly file: CardFile;
  readonly isTaken: boolean;
}

function FileRow({ host, card, file, isNear, isTaken, onChoose, onShow, tabIndex }: RowProps): VNode {
  const diff = useDiff(host, card, file.effect, isNear && file.hasText);
  return (
    <li class={`file-${file.sign} ${isTaken ? "" : "is-left"}`}>
      {onChoose !== undefined && (
        <input
          type="checkbox"
          checked={isTaken}
          tabIndex={tabIndex}
          aria-label={`${file.verb} ${file.path}`}
          onChange={({ currentTarget }) => onChoose(file.effect, currentTarget.checked)}
        />
      )}
      <Icon name={icons[file.sign]} kind={file.sign} />
      <span>
        <button type="button" class="link path" tabIndex={tabIndex} onClick={() => onShow(file.effect)}>
          {file.sign === "delete" && <strong class="bad-text">Deletes </strong>}
          {file.from !== undefined && (
            <>
              Moves <bdi>{file.from}</bdi> to{" "}
            </>
          )}
          <bdi>{file.path}</bdi>
        </button>
        {file.sign !== "delete" && file.sign !== "move" && <span class="muted small"> {file.verb}</span>}
        {file.isLeftOut && <span class="muted small"> left out</span>}
      </span>
      <Delta diff={diff} />
    </li>
  );
}

/** The two ends of a move in full, with the differing part in bold. */
export function FromTo({ file: { from = "", path } }: { readonly file: CardFile }): VNode {
  const before = from.split("/");
  const after = path.split("/");
  let start = 0;
  while (start < Math.min(before.length, after.length) - 1 && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end))
    end++;
  return (
    <dl class="fromto">
      <dt>From</dt>
      <dd>
        <Marked names={before} start={start} end={end} />
      </dd>
      <dt>To</dt>
      <dd>
        <Marked names={after} start={start} end={end} />
      </dd>
    </dl>
  );
}

interface MarkedProps {
  readonly names: readonly string[];
  readonly start: number;
  readonly end: number;
}

function Marked({ names, start, end }: MarkedProps): VNode {
  const head = names.slice(0, start);
  const middle = names.slice(start, names.length - end);
  const tail = names.slice(names.length - end);
  const slash = (some: readonly string[]): string => (some.length > 0 ? "/" : "");
  return (
    <bdi>
      {head.join("/")}
      {slash(head)}
      {middle.length > 0 && <b>{middle.join("/")}</b>}
      {middle.length > 0 && slash(tail)}
      {tail.join("/")}
    </bdi>
  );
}

interface PictureProps {
  readonly host: Host<ReviewContract>;
  readonly card: Card;
  readonly file: CardFile;
  readonly isNear: boolean;
}

/** The picture that will be changed or moved, if it is small enough to be shown. */
export function Picture({ host, card, file, isNear }: PictureProps): VNode | null {
  const [data, setData] = useState<string>();
  const key = `${card.id} ${card.digest} ${card.outcome ?? ""} ${file.effect}`;
  useEffect(() => {
    if (!isNear) return;
    let isCurrent = true;
    host.ask("picture", { id: card.id, effect: file.effect }).then(
      ({ data }) => isCurrent && setData(data),
      // Without a picture, only the text is shown.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [host, key, isNear]);
  if (data === undefined) return null;
  const name = (file.from ?? file.path).slice((file.from ?? file.path).lastIndexOf("/") + 1);
  return (
    <figure class="picture">
      <img src={data} alt={`Picture ${name}`} />
      <figcaption>
        <strong>{file.verb}</strong> <bdi>{name}</bdi>
      </figcaption>
    </figure>
  );
}
