export { fixed32, ProtobufReader, varintSize, writeFixed64, writeVarint } from "./protobuf-bytes.ts";
