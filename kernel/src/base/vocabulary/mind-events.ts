/** The events that an extension may hear before they take effect, and cancel or change. */
export const interceptedEvents = [
  "UserInput",
  "Context",
  "BeforeToolCall",
  "AfterToolCall",
  "BeforeAction",
  "BeforeCompact",
] as const;
export type InterceptedEvent = (typeof interceptedEvents)[number];

/** The order of an interceptor whose manifest names none; lower numbers are asked first. */
export const defaultInterceptOrder = 100;
