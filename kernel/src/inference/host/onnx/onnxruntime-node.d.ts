/** Installed by those who want it; its types are those of a package that is a hundredth of its size. */
declare module "onnxruntime-node" {
  export { InferenceSession, Tensor } from "onnxruntime-common";
}
