import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { pageLabel } from "../shared/label.ts";
import { block, jsonOf, line } from "../shared/text.ts";
import { isObject, maxListEntries, type Field, type Scalar } from "./fields.ts";
import type { Draft, Problems } from "./values.ts";

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly draft: Readonly<Record<string, Draft>>;
  readonly path: string;
  readonly problems: Problems;
  onChange(draft: Readonly<Record<string, Draft>>): void;
}

/** The fields of a form, or of a group in it. */
export function Fields({ fields, draft, path, problems, onChange }: FieldsProps): VNode {
  return (
    <>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          draft={draft[field.name] ?? ""}
          path={`${path}${field.name}`}
          problems={problems}
          onChange={(value) => onChange({ ...draft, [field.name]: value })}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly field: Field;
  readonly draft: Draft;
  readonly path: string;
  readonly problems: Problems;
  onChange(draft: Draft): void;
}

function FieldRow({ field, draft, path, problems, onChange }: FieldProps): VNode {
  const id = useId();
  const { type, description, required } = field;
  const problem = problems.get(path);
  const about = [
    description === undefined ? "" : `${id}-about`,
    problem === undefined ? "" : `${id}-problem`,
  ];
  const labels: Labels = {
    id,
    "aria-describedby": about.join(" ").trim(),
    "aria-invalid": problem !== undefined,
    "aria-required": required,
  };
  const rest = (
    <>
      {description !== undefined && (
        <p id={`${id}-about`} class="quiet about">
          <bdi>{block(description, 2_000)}</bdi>
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} class="problem" role="alert">
          {line(problem, 300)}
        </p>
      )}
    </>
  );
  if (type.kind === "group")
    return (
      <fieldset>
        <legend>
          <Name field={field} />
        </legend>
        {rest}
        <Fields
          fields={type.fields}
          draft={isObject(draft) ? draft : {}}
          path={`${path}.`}
          problems={problems}
          onChange={onChange}
        />
      </fieldset>
    );
  if (type.kind === "list")
    return (
      <fieldset class="list">
        <legend>
          <Name field={field} />
        </legend>
        {rest}
        <ListField
          entry={type.entry}
          name={field.title ?? field.name}
          texts={Array.isArray(draft) ? (draft as readonly string[]) : []}
          path={path}
          problems={problems}
          onChange={onChange}
        />
      </fieldset>
    );
  const text = typeof draft === "string" ? draft : "";
  return (
    <div class="field">
      <label for={id}>
        <Name field={field} />
        {type.kind === "json" && <span class="quiet"> (JSON)</span>}
      </label>
      {type.kind === "json" ? (
        <JsonInput labels={labels} text={text} onChange={onChange} />
      ) : (
        <ScalarInput type={type} labels={labels} text={text} onChange={onChange} />
      )}
      {rest}
    </div>
  );
}

function Name({ field: { name, title, required } }: { readonly field: Field }): VNode {
  return (
    <>
      <bdi>{pageLabel(title ?? name, 120)}</bdi>
      {required && (
        <span class="required" title="needed">
          <span aria-hidden="true"> *</span>
          <span class="hidden-text"> (needed)</span>
        </span>
      )}
    </>
  );
}

interface Labels {
  readonly id: string;
  readonly "aria-label"?: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: boolean;
  readonly "aria-required"?: boolean;
}

interface InputProps {
  readonly labels: Labels;
  readonly text: string;
  onChange(text: string): void;
}

function ScalarInput({ type, labels, text, onChange }: InputProps & { readonly type: Scalar }): VNode {
  switch (type.kind) {
    case "boolean":
      return (
        <select {...labels} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">–</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      );
    case "choice":
      return (
        <select {...labels} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">–</option>
          {type.options.map((option, index) => (
            <option key={index} value={String(index)}>
              {line(typeof option === "string" ? option : jsonOf(option), 120)}
            </option>
          ))}
        </select>
      );
    case "number":
      return (
        <input
          {...labels}
          // A text field, because a browser's own number field hides invalid input.
          inputMode={type.integer ? "numeric" : "decimal"}
          placeholder={rangeOf(type)}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case "text":
      return type.maxLength !== undefined && type.maxLength <= 120 ? (
        <input {...labels} value={text} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
      ) : (
        <textarea
          {...labels}
          rows={Math.min(8, text.split("\n").length)}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
  }
}

function rangeOf({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
}: Extract<Scalar, { kind: "number" }>): string {
  const least =
    minimum === undefined
      ? exclusiveMinimum === undefined
        ? ""
        : `more than ${exclusiveMinimum}`
      : `at least ${minimum}`;
  const most =
    maximum === undefined
      ? exclusiveMaximum === undefined
        ? ""
        : `less than ${exclusiveMaximum}`
      : `at most ${maximum}`;
  return [least, most].filter((part) => part !== "").join(", ");
}

export function JsonInput({ labels, text, onChange }: InputProps): VNode {
  return (
    <textarea
      {...labels}
      class="mono"
      spellcheck={false}
      rows={Math.max(3, Math.min(16, text.split("\n").length))}
      value={text}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

interface ListProps {
  readonly entry: Scalar;
  readonly name: string;
  readonly texts: readonly string[];
  readonly path: string;
  readonly problems: Problems;
  onChange(texts: readonly string[]): void;
}

function ListField({ entry, name, texts, path, problems, onChange }: ListProps): VNode {
  const id = useId();
  return (
    <>
      {texts.slice(0, maxListEntries).map((text, index) => {
        const problem = problems.get(`${path}.${index}`);
        return (
          <div class="entry" key={index}>
            <ScalarInput
              type={entry}
              labels={{
                id: `${id}-${index}`,
                "aria-label": `${pageLabel(name, 60)}, ${index + 1}`,
                "aria-invalid": problem !== undefined,
              }}
              text={text}
              onChange={(changed) => onChange(texts.with(index, changed))}
            />
            <button
              type="button"
              class="link"
              aria-label={`Remove ${pageLabel(name, 60)}, ${index + 1}`}
              onClick={() => onChange(texts.toSpliced(index, 1))}
            >
              Remove
            </button>
            {problem !== undefined && (
              <p class="problem" role="alert">
                {line(problem, 300)}
              </p>
            )}
          </div>
        );
      })}
      {texts.length > maxListEntries && (
        <p class="quiet">{texts.length - maxListEntries} more; edit them as JSON.</p>
      )}
      <button
        type="button"
        class="secondary"
        disabled={texts.length >= maxListEntries}
        onClick={() => onChange([...texts, ""])}
      >
        Add
      </button>
    </>
  );
}
