//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> SharedExtractor for Path<T> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound];
}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> SharedExtractor for Query<T> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];
}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> ExclusiveExtractor for TypedBody<T> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::UnsupportedMediaType, ErrorCode::BodyTooLarge, ErrorCode::RequestTimeout, ErrorCode::InvalidBody];
}
