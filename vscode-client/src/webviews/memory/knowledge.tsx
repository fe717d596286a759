import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../shared/format.ts";
import { useAsked, useChanged, useSettled } from "../shared/hooks.ts";
import { Failed, Notice } from "../shared/notice.tsx";
import { pageLabel } from "../shared/label.ts";
import { ItemDetails } from "./item.tsx";
import { maxItems, type Item } from "./messages.ts";
import { titleOf } from "./title.ts";
import type { TabProps } from "./tab-props.ts";

/** The knowledge of an agent. */
export function Knowledge({ host, kept, keep, whose }: TabProps): VNode {
  const search = useSettled(kept.search.trim());
  const [chosen, setChosen] = useState<string>();
  const { asked, again } = useAsked(host, "knowledge", {
    ...whose,
    search,
    by: kept.by,
    ...(kept.itemVariant !== "" && { variant: kept.itemVariant }),
  });
  useChanged(host, asked, again);
  const items = asked.kind === "ready" ? asked.value.items : [];
  const variants = [
    ...new Set([
      ...(kept.itemVariant === "" ? [] : [kept.itemVariant]),
      ...items.map(({ variant }) => variant),
    ]),
  ];
  const item = items.find(({ id }) => id === chosen);
  return (
    <>
      <div class="filters">
        <input
          type="search"
          class="grow"
          placeholder={kept.by === "meaning" ? "Find what is similar to…" : "Find words"}
          aria-label={kept.by === "meaning" ? "Text that an item is similar to" : "Words in an item"}
          maxLength={1_000}
          value={kept.search}
          onInput={({ currentTarget: { value } }) => keep({ search: value })}
        />
        <select
          aria-label="How to search"
          value={kept.by}
          onChange={({ currentTarget: { value } }) => keep({ by: value === "words" ? "words" : "meaning" })}
        >
          <option value="meaning">By similarity</option>
          <option value="words">By words</option>
        </select>
        <select
          aria-label="Variant"
          value={kept.itemVariant}
          onChange={({ currentTarget: { value } }) => keep({ itemVariant: value })}
        >
          <option value="">All variants</option>
          {variants.map((name) => (
            <option key={name} value={name}>
              {pageLabel(name, 40)}
            </option>
          ))}
        </select>
      </div>
      {asked.kind === "loading" && <Notice kind="busy" title="Loading…" />}
      {asked.kind === "failed" && <Failed message={asked.message} again={again} />}
      {asked.kind === "ready" && items.length === 0 && (
        <Notice
          title={search === "" && kept.itemVariant === "" ? "Nothing is known yet." : "No item matches."}
        />
      )}
      {items.length > 0 && (
        <ItemTable
          items={items}
          chosen={chosen}
          onChoose={setChosen}
          busy={asked.kind === "ready" && asked.stale}
        />
      )}
      {item !== undefined && (
        <ItemDetails
          key={item.id}
          host={host}
          whose={whose}
          item={item}
          onChoose={setChosen}
          onForgotten={again}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

interface TableProps {
  readonly items: readonly Item[];
  readonly chosen: string | undefined;
  readonly busy: boolean;
  onChoose(id: string): void;
}

function ItemTable({ items, chosen, busy, onChoose }: TableProps): VNode {
  const ranked = items.some(({ similarity }) => similarity !== undefined);
  return (
    <>
      <p class="quiet count">
        {items.length >= maxItems
          ? `The first ${counted(items.length, "item")}`
          : counted(items.length, "item")}
        {ranked ? ", the most similar first" : ""}
      </p>
      <div class={chosen === undefined ? "table-box" : "table-box beside-details"}>
        <table class="items" aria-busy={busy}>
          <thead>
            <tr>
              <th scope="col">Item</th>
              {ranked && (
                <th scope="col" class="meter-column">
                  Similarity
                </th>
              )}
              <th scope="col" class="meter-column wide">
                Importance
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.id} class={item.id === chosen ? "chosen" : ""}>
                <td>
                  <button
                    type="button"
                    class="item"
                    aria-pressed={item.id === chosen}
                    onClick={() => onChoose(item.id)}
                  >
                    <span class="item-line">
                      {" "}
                      <span class="badge" title={pageLabel(item.variant, 128)}>
                        <bdi>{pageLabel(item.variant, 40)}</bdi>
                      </span>{" "}
                      <bdi>{titleOf(item)}</bdi>
                      {!item.embedded && (
                        <span class="quiet" title="Not embedded yet: found by its words only">
                          {" "}
                          (words only)
                        </span>
                      )}
                    </span>{" "}
                  </button>
                </td>
                {ranked && (
                  <td>
                    <Meter value={item.similarity ?? 0} label="Similarity" kind="similarity" />
                  </td>
                )}
                <td class="wide">
                  <Meter value={item.importance} label="Importance" kind="importance" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface MeterProps {
  readonly value: number;
  readonly label: string;
  readonly kind: "similarity" | "importance";
}

function Meter({ value, label, kind }: MeterProps): VNode {
  const shown = Math.max(0, Math.min(1, value));
  return (
    <span
      class={`meter meter-${kind}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={1}
      aria-valuenow={Number(value.toFixed(3))}
      title={`${label} ${value.toFixed(3)}`}
    >
      <span class="meter-track">
        <i style={{ width: `${shown * 100}%` }} />
      </span>
      <span class="meter-value">{value.toFixed(2)}</span>
    </span>
  );
}
