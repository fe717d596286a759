/** Loaded when it is first needed. A package written as CommonJS has no names where it is bundled and imported so. */
export { Ajv } from "ajv";
