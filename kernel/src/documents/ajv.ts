/**
 * Returns ajv, loaded at first use. Bundling the CommonJS package loses its named exports, hence the default
 * import.
 */
export { Ajv } from "ajv";
