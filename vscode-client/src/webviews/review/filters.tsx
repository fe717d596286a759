import type { VNode } from "preact";
import { count } from "../shared/format.ts";
import type { FileSign } from "./messages.ts";
import type { Filter, Option, Options } from "./shown.ts";

const kindWords: Readonly<Record<FileSign, string>> = {
  edit: "Edits",
  new: "New files",
  move: "Moves",
  delete: "Deletes",
  folder: "New folders",
  note: "Tags and fields",
};

interface FilterProps {
  readonly options: Options;
  readonly filter: Filter;
  onFilter(filter: Filter): void;
  nameOf(agent: string): string;
}

interface Dimension {
  readonly key: keyof Filter;
  readonly name: string;
  readonly all: string;
  readonly options: readonly Option<string>[];
  wordsOf(value: string): string;
}

function dimensions({ options, nameOf }: FilterProps): Dimension[] {
  return [
    { key: "agent", name: "Agent", all: "All agents", options: options.agents, wordsOf: nameOf },
    {
      key: "folder",
      name: "Folder",
      all: "All folders",
      options: options.folders,
      wordsOf: (folder) => (folder === "" ? "the top folder" : folder),
    },
    {
      key: "kind",
      name: "Kind",
      all: "All kinds",
      options: options.kinds,
      wordsOf: (kind) => kindWords[kind as FileSign],
    },
  ];
}

/** For a narrow page: one field for each. */
export function FilterRow(props: FilterProps): VNode {
  const { filter, onFilter } = props;
  return (
    <div class="filters" role="group" aria-label="Filter">
      {dimensions(props).map(({ key, name, all, options, wordsOf }) => (
        <select
          key={key}
          data-filter
          aria-label={name}
          onChange={({ currentTarget: { selectedIndex } }) =>
            onFilter({ ...filter, [key]: options[selectedIndex - 1]?.value })
          }
        >
          <option selected={filter[key] === undefined}>{all}</option>
          {options.map(({ value, count: amount }) => (
            <option key={value} selected={filter[key] === value}>
              {wordsOf(value)} ({count(amount)})
            </option>
          ))}
        </select>
      ))}
    </div>
  );
}

/** For a wide page: a column of all choices. */
export function FilterRail(props: FilterProps): VNode {
  const { filter, onFilter, options } = props;
  return (
    <nav class="rail" aria-label="Filter">
      {dimensions(props).map(({ key, name, all, options: choices, wordsOf }) => (
        <div key={key}>
          <h2>{name}</h2>
          <ul>
            {[{ value: undefined, count: options.all }, ...choices].map(({ value, count: amount }) => (
              <li key={value ?? " "}>
                <button
                  type="button"
                  data-filter
                  aria-pressed={filter[key] === value}
                  onClick={() => onFilter({ ...filter, [key]: value })}
                >
                  <span>
                    <bdi>{value === undefined ? all : wordsOf(value)}</bdi>
                  </span>
                  <span class="number">{count(amount)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Focuses the filter that is visible: the rail or the row, by the width of the page. */
export function focusFilter(root: Element | null): void {
  const all = [...(root?.querySelectorAll<HTMLElement>("[data-filter]") ?? [])];
  all.find((each) => each.offsetParent !== null)?.focus();
}
