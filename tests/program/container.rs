//! The program as in a container: PID 1 of a namespace, with a read-only root directory and as a user without a name.
//!
//! There is no engine of containers here; util-linux makes the same namespaces.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use kit::Need;
use kit::program::{WorkDir, prefix, program};

/// A user that `/etc/passwd` does not have.
const USER: u32 = 54_321;

/// Makes everything read-only but the directory in `$1`, and starts the rest of the arguments as the user in `$2`.
const ENTER: &str = "set -e\n\
    mount --bind \"$1\" \"$1\"\n\
    mount -o remount,bind,ro /\n\
    cd \"$1\"\n\
    ! touch /animal-store-can-write 2>/dev/null\n\
    user=$2\n\
    shift 2\n\
    exec setpriv --pdeathsig=KILL --reuid=$user --regid=$user --clear-groups --no-new-privs --bounding-set=-all -- \"$@\"";

/// Changes a command to run the program as in a container whose only volume is the working directory.
fn contain(command: &mut Command, directory: &WorkDir) {
    let (volume, user) = (directory.path(""), USER.to_string());
    let namespaces =
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "--uts"];
    let shell = ["sh", "-c", ENTER, "sh", volume.to_str().unwrap(), &user];
    let mut inside = Command::new(directory.path("animal-store"));
    inside.args(command.as_std().get_args()).current_dir(&volume);
    prefix(&mut inside, &[&namespaces[..], &shell].concat());
    *command = inside;
}

/// Returns the only child of a process.
fn child(process: Pid) -> Pid {
    let id = process.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    Pid::from_raw(children.trim().parse().expect("one child")).unwrap()
}

#[tokio::test]
async fn the_program_runs_as_in_a_container() {
    if !rustix::process::geteuid().is_root() {
        return kit::skip(Need::Tool, "only root can mount and change the user");
    }
    let directory = WorkDir::new();
    let volume = directory.path("");
    fs::copy(program(), directory.path("animal-store")).unwrap();
    fs::set_permissions(&volume, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&volume, Some(USER), Some(USER)).unwrap();
    let run = async |arguments: &[&str]| {
        directory.run_changed(arguments, |command| contain(command, &directory)).await
    };
    let created = run(&["key", "create", "shop"]).await;
    assert!(created.audit()[0].contains(&format!("user_id={USER}")), "{}", created.stderr);
    let key = created.success();
    let service =
        directory.serve_with(&["--ops-bind", "127.0.0.1:0"], |command| contain(command, &directory)).await;
    service.add(key.trim_end(), 3).await;
    service.wait_for_readiness(200).await;
    run(&["backup", "copy.db"]).await.success();

    let mut service = service;
    kill_process(child(service.pid()), Signal::TERM).unwrap();
    assert_eq!(service.exit().await.0, Some(0), "{}", service.log());
    assert!(service.log().contains("stopped"), "{}", service.log());
    // The next one begins where it ended.
    run(&["restore", "copy.db"]).await.success();
    let mut service = directory.serve_with(&[], |command| contain(command, &directory)).await;
    assert_eq!(service.all(key.trim_end()).await.len(), 3);
    kill_process(child(service.pid()), Signal::INT).unwrap();
    assert_eq!(service.exit().await.0, Some(0), "{}", service.log());
}
