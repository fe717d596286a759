import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { counted } from "./format.ts";
import { jsonOf, line } from "./text.ts";

/** The number of members of one object or list that are shown at first, and added with each press of the button. */
const shownMembers = 100;
/** Characters of one value. */
const maxValueCharacters = 2_000;

interface TreeProps {
  readonly value: unknown;
  /** The number of levels that start expanded. */
  readonly open?: number;
}

/** A JSON tree. Collapsed parts are not rendered, so a large value costs only what is visible of it. */
export function JsonTree({ value, open = 1 }: TreeProps): VNode {
  return (
    <div class="json">
      <Value name={undefined} value={value} open={open} />
    </div>
  );
}

interface ValueProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly open: number;
}

function Value({ name, value, open }: ValueProps): VNode {
  if (typeof value === "object" && value !== null) return <Members name={name} value={value} open={open} />;
  return (
    <div class="json-row">
      <Key name={name} />
      <span class={`json-${value === null ? "null" : typeof value}`}>
        <bdi>{line(jsonOf(value), maxValueCharacters)}</bdi>
      </span>
    </div>
  );
}

function Members({ name, value, open }: ValueProps & { readonly value: object }): VNode {
  const [isOpen, setOpen] = useState(open > 0);
  const [shown, setShown] = useState(shownMembers);
  const entries = Object.entries(value);
  const size = Array.isArray(value)
    ? `[${counted(entries.length, "item")}]`
    : `{${counted(entries.length, "field")}}`;
  const members = isOpen ? entries.slice(0, shown) : [];
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Key name={name} />
        <span class="quiet">{size}</span>
      </summary>
      {members.map(([key, member]) => (
        <Value key={key} name={key} value={member} open={open - 1} />
      ))}
      {isOpen && entries.length > shown && (
        <button type="button" class="link" onClick={() => setShown(shown + shownMembers)}>
          Show more ({counted(entries.length - shown, "is", "are")} not shown)
        </button>
      )}
    </details>
  );
}

function Key({ name }: { readonly name: string | undefined }): VNode | null {
  if (name === undefined) return null;
  return (
    <span class="json-key">
      <bdi>{line(name)}</bdi>:{" "}
    </span>
  );
}
