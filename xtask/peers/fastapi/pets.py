"""The three operations of the service with FastAPI and SQLModel. The database is one that the service created; its file
is the environment variable `DATABASE`.
"""

import os
from contextlib import asynccontextmanager
from enum import Enum
from hashlib import sha256
from threading import Lock
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict
from sqlalchemy import event
from sqlmodel import Column, Field, Integer, Session, SQLModel, create_engine, select, text


class Status(str, Enum):
    available = "available"
    pending = "pending"
    sold = "sold"


class NewPet(SQLModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=255)
    categoryId: int
    status: Status | None = None


class Pet(SQLModel, table=True):
    __tablename__ = "animal"
    id: int | None = Field(default=None, primary_key=True)
    name: str
    categoryId: int = Field(sa_column=Column("category_id", Integer))
    status: Status | None = None


class Page(BaseModel):
    model_config = ConfigDict(extra="forbid")
    limit: int = Field(20, ge=1, le=100)
    cursor: int = 0


# FastAPI has 40 threads for functions that are not `async`.
engine = create_engine(f"sqlite:///{os.environ['DATABASE']}", connect_args={"timeout": 10}, pool_size=40)
# SQLite has one writer at a time; more would wait for its lock by polling.
writing = Lock()


@event.listens_for(engine, "connect")
def durable(connection, _):
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


with Session(engine) as session:
    keys = set(session.exec(text("SELECT hash FROM api_key WHERE revoked IS NULL")).scalars())


def get_session():
    with Session(engine) as session:
        yield session


async def authenticate(credentials: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]):
    if sha256(credentials.credentials.encode()).digest() not in keys:
        raise HTTPException(401, "Unauthorized")


@asynccontextmanager
async def lifespan(_):
    print(f"ready: {os.environ['ADDRESS']}", flush=True)
    yield


app = FastAPI(dependencies=[Depends(authenticate)], lifespan=lifespan)


@app.get("/v1/pets/{id}", response_model_exclude_none=True)
def get_pet(id: int, session: Annotated[Session, Depends(get_session)]) -> Pet:
    pet = session.get(Pet, id)
    if pet is None:
        raise HTTPException(404, "Not Found")
    return pet


@app.get("/v1/pets", response_model_exclude_none=True)
def list_pets(
    page: Annotated[Page, Query()], session: Annotated[Session, Depends(get_session)], response: Response
) -> list[Pet]:
    pets = session.exec(select(Pet).where(Pet.id > page.cursor).order_by(Pet.id).limit(page.limit)).all()
    if len(pets) == page.limit:
        response.headers["Link"] = f'</v1/pets?limit={page.limit}&cursor={pets[-1].id}>; rel="next"'
    return pets


@app.post("/v1/pets", status_code=201, response_model_exclude_none=True)
def add_pet(new: NewPet, session: Annotated[Session, Depends(get_session)], response: Response) -> Pet:
    pet = Pet.model_validate(new)
    with writing:
        session.add(pet)
        session.commit()
    session.refresh(pet)
    response.headers["Location"] = f"/v1/pets/{pet.id}"
    return pet
