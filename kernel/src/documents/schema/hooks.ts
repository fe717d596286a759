import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { defaultInterceptOrder } from "../../base/vocabulary/mind-events.ts";
import { durationPattern } from "./durations.ts";
import { PromptFile } from "./mind.ts";

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

/** A capability of a device. */
export const Capability = { pattern: "^[a-z][a-z0-9_]{0,63}$" };

export const Hook = Type.Object(
  {
    on: Type.Optional(
      Name("The event it waits for: EntryCreated and its like, or publisher.id/EventName of an extension"),
    ),
    schedule: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'When, instead of on: cron\'s "minute hour day month weekday", or @daily and the like',
        examples: ["0 3 * * *", "*/15 * * * *", "0 9 * * MON-FRI", "@daily", "@weekly"],
      }),
    ),
    handler: Type.Optional(Name("The function under hooks of the program that is called")),
    prompt: Type.Optional(
      Type.String({
        ...PromptFile,
        description:
          "Instead of handler, for a schedule: a text file whose text starts a short conversation with the extension's mind",
      }),
    ),
    filter: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          "Which of the events: an expression (CEL) over their fields, such as entry.isImage() && entry.size > 1000; default all",
        examples: ['entry.extension == "md"', "entry.isImage()", "inGrantedScope(entry.path)"],
      }),
    ),
    timezone: Type.Optional(
      Name("The schedule's time zone, by its IANA name, such as Europe/Berlin; default UTC"),
    ),
    catch_up: Type.Optional(
      Type.Union(
        [
          Type.Literal("skip", { description: "Missed runs are left out" }),
          Type.Literal("once", { description: "One run is made for all of them" }),
          Type.Literal("all", { description: "Every missed run is made, at most the latest 100" }),
        ],
        {
          description:
            "What becomes of runs that were missed by a minute or more, as when no kernel ran or the machine slept; default skip",
          default: "skip",
        },
      ),
    ),
    target: Type.Optional(
      Type.Literal("notify", {
        description: "What happens with the answer to prompt; default notify: the person is notified",
        default: "notify",
      }),
    ),
    active_hours: Type.Optional(
      Type.String({
        pattern: "^(?:[01][0-9]|2[0-3]):[0-5][0-9]-(?:[01][0-9]|2[0-3]):[0-5][0-9]$",
        description:
          "The hours of the schedule's time zone in which it runs; runs outside of them are skipped. They may go over midnight. Default all day",
        examples: ["08:00-20:00"],
      }),
    ),
    overlap: Type.Optional(
      Type.Union(
        [
          Type.Literal("skip", { description: "No run begins before the one before it has ended" }),
          Type.Literal("queue", { description: "Runs wait for each other, at most 100" }),
        ],
        {
          description:
            "What becomes of a run that is due while the one before it has not ended; default skip. With catch_up: all, runs always wait",
          default: "skip",
        },
      ),
    ),
    jitter: Type.Optional(
      Type.String({
        pattern: durationPattern,
        description:
          "Delays the schedule's runs by a time that is drawn when the kernel starts, from 0 to this, at most 1h, so that not all begin in the same moment; default 0s",
        examples: ["30s", "5m"],
      }),
    ),
    on_device_with_capability: Type.Optional(
      Type.String({
        ...Capability,
        description:
          "The schedule runs only on a device of which the person says that it has this capability; on others it waits. Default any device",
        examples: ["gpu", "always_on"],
      }),
    ),
    intercept: Type.Optional(
      Type.Boolean({
        description:
          "Whether the handler is asked before the event takes effect, and may cancel or change it; default false. Needs the permission intercept",
        default: false,
      }),
    ),
    order: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: `With intercept: lower numbers are asked first; default ${defaultInterceptOrder}`,
        default: defaultInterceptOrder,
      }),
    ),
  },
  { ...closed, description: "An event or a time, and what of the program is called then" },
);
export type ManifestHook = Static<typeof Hook>;

export const Command = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[a-z][a-z0-9-]*$",
      description: "What people write after the slash: lower case letters, digits, dashes",
    }),
    title: Name("What it does, in a few words for a list"),
    description: Type.Optional(Type.String({ maxLength: 1024, description: "What it does, in a sentence" })),
    handler: Type.Optional(Name("The function under commands of the program that is called")),
    prompt: Type.Optional(
      Type.String({
        ...PromptFile,
        description: "Instead of handler: a text file whose text is sent to the extension's mind",
      }),
    ),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "JSON Schema of its arguments, with type: object; default it takes none",
      }),
    ),
  },
  { ...closed, description: "Something that a person can have the extension do by its name" },
);
