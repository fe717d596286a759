import type { WireApi } from "./wire.ts";

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const filled: Schema = { type: "string", pattern: "\\S" };
const name: Schema = { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,63}$" };
const id: Schema = { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" };
const count: Schema = { type: "integer", minimum: 1 };
const anyObject: Schema = { type: "object" };
const only = (...values: readonly unknown[]): Schema => ({ enum: values });
const some = (items: Schema): Schema => ({ type: "array", minItems: 1, items });
const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas });

/** An object with these fields and no others; a name that ends in `?` may be left out. */
function fields(properties: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(properties);
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, schema]) => [key.replace("?", ""), schema]),
    ),
    required: names.filter((key) => !key.endsWith("?")),
  };
}

const cached = { "cache_control?": fields({ type: only("ephemeral") }) };
const anthropicText = fields({ type: only("text"), text: filled, ...cached });
const functionTool = fields({
  type: only("function"),
  function: fields({ name, description: text, parameters: anyObject }),
});
const chatCall = fields({ id, type: only("function"), function: fields({ name, arguments: text }) });
const chat = (rest: Readonly<Record<string, Schema>>, assistant: Readonly<Record<string, Schema>>): Schema =>
  fields({
    model: text,
    "max_tokens?": count,
    "temperature?": { type: "number" },
    messages: some(
      anyOf(
        fields({ role: only("system"), content: filled }),
        fields({
          role: only("user"),
          content: anyOf(
            filled,
            some(
              anyOf(
                fields({ type: only("text"), text: filled }),
                fields({ type: only("image_url"), image_url: fields({ url: text }) }),
              ),
            ),
          ),
        }),
        fields({
          role: only("assistant"),
          content: { type: ["string", "null"] },
          "tool_calls?": some(chatCall),
          ...assistant,
        }),
        fields({ role: only("tool"), tool_call_id: id, content: text }),
      ),
    ),
    "tools?": some(functionTool),
    "tool_choice?": only("none", "auto"),
    "response_format?": fields({
      type: only("json_schema"),
      json_schema: fields({ name, schema: anyObject, strict: { type: "boolean" } }),
    }),
    stream: only(true),
    stream_options: fields({ include_usage: only(true) }),
    ...rest,
  });

/** What each provider accepts of what is sent to it, written by hand from its reference. Stricter than it where possible. */
export const shapes: Readonly<Record<WireApi, Schema>> = {
  anthropic: fields({
    model: text,
    max_tokens: count,
    "temperature?": { type: "number", minimum: 0, maximum: 1 },
    "system?": some(anthropicText),
    messages: some(
      anyOf(
        fields({
          role: only("user"),
          content: some(
            anyOf(
              anthropicText,
              fields({
                type: only("image"),
                source: fields({ type: only("base64"), media_type: text, data: text }),
                ...cached,
              }),
              fields({
                type: only("tool_result"),
                tool_use_id: id,
                content: text,
                "is_error?": { type: "boolean" },
                ...cached,
              }),
            ),
          ),
        }),
        fields({
          role: only("assistant"),
          content: some(
            anyOf(
              anthropicText,
              fields({ type: only("thinking"), thinking: text, signature: filled }),
              fields({ type: only("redacted_thinking"), data: filled }),
              fields({ type: only("tool_use"), id, name, input: anyObject, ...cached }),
            ),
          ),
        }),
      ),
    ),
    "tools?": some(
      fields({
        name,
        description: text,
        input_schema: anyObject,
      }),
    ),
    "tool_choice?": fields({ type: only("none", "auto", "any"), "disable_parallel_tool_use?": only(true) }),
    "output_config?": anyObject,
    stream: only(true),
  }),
  openai: fields({
    model: text,
    "max_output_tokens?": count,
    "temperature?": { type: "number" },
    store: only(false),
    "include?": only(["reasoning.encrypted_content"]),
    input: some(
      anyOf(
        fields({ role: only("system", "developer"), content: filled }),
        fields({
          role: only("user"),
          content: some(
            anyOf(
              fields({ type: only("input_text"), text: filled }),
              fields({ type: only("input_image"), image_url: text, detail: only("auto") }),
            ),
          ),
        }),
        fields({ role: only("assistant"), content: filled }),
        fields({
          type: only("reasoning"),
          id,
          encrypted_content: filled,
          summary: { type: "array", items: fields({ type: only("summary_text"), text }) },
        }),
        fields({ type: only("function_call"), call_id: id, name, arguments: text }),
        fields({ type: only("function_call_output"), call_id: id, output: text }),
      ),
    ),
    "text?": fields({
      format: fields({
        type: only("json_schema"),
        name,
        schema: anyObject,
        strict: { type: "boolean" },
      }),
    }),
    "tools?": some(
      fields({
        type: only("function"),
        name,
        description: text,
        parameters: anyObject,
        strict: { type: "boolean" },
      }),
    ),
    "tool_choice?": only("none", "auto"),
    stream: only(true),
  }),
  "openai-chat": chat({ store: only(false) }, {}),
  google: fields({
    generationConfig: fields({
      "maxOutputTokens?": count,
      "temperature?": { type: "number" },
      "responseMimeType?": only("application/json"),
      "responseJsonSchema?": anyObject,
    }),
    contents: some(
      fields({
        role: only("user", "model"),
        parts: some(
          anyOf(
            fields({ text, "thought?": only(true), "thoughtSignature?": filled }),
            fields({ inlineData: fields({ mimeType: text, data: text }) }),
            fields({
              functionCall: fields({ "id?": id, name, args: anyObject }),
              "thoughtSignature?": filled,
            }),
            fields({ functionResponse: fields({ "id?": id, name, response: anyObject }) }),
          ),
        ),
      }),
    ),
    "systemInstruction?": fields({ parts: some(fields({ text: filled })) }),
    "tools?": some(
      fields({
        functionDeclarations: some(fields({ name, description: text, parametersJsonSchema: anyObject })),
      }),
    ),
    "toolConfig?": fields({
      functionCallingConfig: fields({
        mode: only("NONE", "AUTO", "ANY", "VALIDATED"),
        "allowedFunctionNames?": some(name),
      }),
    }),
  }),
  "openai-compatible": chat({}, { "reasoning_content?": text }),
  ollama: fields({
    model: text,
    messages: some(
      anyOf(
        fields({ role: only("system"), content: filled }),
        fields({ role: only("user"), content: text, "images?": some(text) }),
        fields({
          role: only("assistant"),
          content: text,
          "thinking?": filled,
          "tool_calls?": some(fields({ id, function: fields({ name, arguments: anyObject }) })),
        }),
        fields({ role: only("tool"), content: text, tool_name: name, tool_call_id: id }),
      ),
    ),
    "tools?": some(functionTool),
    "format?": anyObject,
    stream: only(true),
    truncate: only(false),
    shift: only(false),
    options: fields({ num_ctx: count, "num_predict?": count, "temperature?": { type: "number" } }),
  }),
};
