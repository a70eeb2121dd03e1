//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

#[derive(Debug)]
pub struct Path<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Path<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::NotFound])
    }

}

#[derive(Debug)]
pub struct Query<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Query<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::InvalidParameter])
    }

}

#[derive(Debug)]
pub struct Json<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Json<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::UnsupportedMediaType, ErrorCode::BodyTooLarge, ErrorCode::RequestTimeout, ErrorCode::InvalidBody])
    }

}

