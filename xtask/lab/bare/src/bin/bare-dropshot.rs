//! A baseline for benchmarks: a dropshot server with one endpoint.

use dropshot::{
    ApiDescription, ConfigDropshot, HandlerTaskMode, HttpError, HttpResponseOk, RequestContext,
    ServerBuilder, endpoint,
};

#[endpoint { method = GET, path = "/" }]
async fn hello(_: RequestContext<()>) -> Result<HttpResponseOk<&'static str>, HttpError> {
    Ok(HttpResponseOk("hello"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut api = ApiDescription::new();
    api.register(hello)?;
    let config = ConfigDropshot {
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    let log = slog::Logger::root(slog::Discard, slog::o!());
    let server = ServerBuilder::new(api, (), log).config(config).start()?;
    println!("ready: http://{}", server.local_addr());
    Ok(server.wait_for_shutdown().await?)
}
