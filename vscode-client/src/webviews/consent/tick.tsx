import type { VNode } from "preact";
import { Said } from "./said.tsx";

interface TickProps {
  readonly title: string;
  readonly detail?: string | undefined;
  /** A note beside the title. */
  readonly note?: string | undefined;
  /** The manifest's name for it, for those who know it. */
  readonly small?: string | undefined;
  readonly isOn: boolean;
  /** "New", "Changed", or nothing. */
  readonly tag?: string;
  readonly disabled?: boolean;
  onToggle(): void;
}

/** A checkbox with its label. */
export function Tick({
  title,
  detail,
  note,
  small,
  isOn,
  tag = "",
  disabled = false,
  onToggle,
}: TickProps): VNode {
  return (
    <label class="choice" title={small}>
      <input type="checkbox" checked={isOn} disabled={disabled} onChange={onToggle} />
      <span>
        <Said text={title} />
        {note !== undefined && <span class="quiet"> · {note}</span>}
        {tag !== "" && <span class="tag">{tag}</span>}
      </span>
      {detail !== undefined && <small>{detail}</small>}
    </label>
  );
}
