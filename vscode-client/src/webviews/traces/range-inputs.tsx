import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { Range, RangeProblem } from "./range.ts";

interface RangeProps {
  readonly range: Range;
  /** Why no query is sent now. */
  readonly problem: RangeProblem | undefined;
  onChange(range: Range): void;
}

const labels = { from: "From", to: "To" } as const satisfies Record<keyof Range, string>;

/** The beginning and the end in the local zone; either may be left open. */
export function RangeInputs({ range, problem, onChange }: RangeProps): VNode {
  const id = useId();
  // For a partially typed time, the browser only reports that it is incomplete.
  const [halfTyped, setHalfTyped] = useState<keyof Range>();
  const said =
    halfTyped === undefined
      ? problem
      : { field: halfTyped, problem: `${labels[halfTyped]} is not a whole date and time yet.` };
  const input = (field: keyof Range): VNode => (
    <label>
      {labels[field]}{" "}
      <input
        type="datetime-local"
        step={1}
        min="1970-01-01T00:00"
        max="9999-12-31T23:59:59"
        value={range[field]}
        aria-invalid={said?.field === field}
        aria-describedby={said?.field === field ? id : undefined}
        onInput={({ currentTarget: { value, validity } }) => {
          setHalfTyped((before) => (validity.badInput ? field : before === field ? undefined : before));
          if (!validity.badInput) onChange({ ...range, [field]: value });
        }}
      />
    </label>
  );
  return (
    <div class="range" role="group" aria-label="Range of time">
      {input("from")}
      {input("to")}
      {said !== undefined && (
        <p id={id} class="problem" role="alert">
          {said.problem}
        </p>
      )}
    </div>
  );
}
